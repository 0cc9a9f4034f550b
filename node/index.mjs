// The same for `import`.
import midfold from './index.js'

export const {
  compact,
  countTokens,
  recallTools,
  presets,
  tokenizers,
  version,
  Context,
  Session,
  Sessions,
  SummaryRequest,
  MidfoldError,
  InputError,
  PolicyError,
  BudgetError,
  StoreError,
  TokenizerError,
} = midfold
export default midfold
