export * from './index.js'
import midfold = require('./index.js')
export default midfold
