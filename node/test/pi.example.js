// ~/.pi/agent/extensions/midfold.js: the extension with options of one's own.
const { midfold } = require('midfold/pi')

module.exports = midfold({
  preset: 'default',
  store: process.env.MIDFOLD_STORE || undefined, // such as sqlite:/home/me/.pi/midfold.db
})
