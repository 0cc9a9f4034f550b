// .opencode/plugin/midfold.js of a project, or ~/.config/opencode/plugin/midfold.js.
import midfold from 'midfold/opencode'

export const Midfold = (input) =>
  midfold(input, {
    preset: 'default',
    store: process.env.MIDFOLD_STORE || undefined, // such as sqlite:/home/me/.local/share/midfold.db
  })
