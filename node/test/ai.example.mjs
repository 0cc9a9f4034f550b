// The whole of it: a model that is wrapped, and tools that bring back what was folded.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, wrapLanguageModel } from 'ai'
import { midfoldMiddleware, midfoldTools } from 'midfold/ai'

export async function agent({ baseURL, prompt, tools, window }) {
  const provider = createOpenAICompatible({ name: 'example', baseURL, apiKey: 'none' })
  const middleware = midfoldMiddleware({ window })
  const model = wrapLanguageModel({ model: provider('scripted-model'), middleware })
  const all = { ...tools, ...midfoldTools(middleware) }
  return generateText({ model, prompt, tools: all, stopWhen: stepCountIs(50) })
}
