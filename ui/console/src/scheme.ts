// Light or dark: as the system says, or as the switch was set, which this browser remembers.

import { el } from "../../parts/dom.js";

const KEY = "midfold-scheme";
type Scheme = "system" | "light" | "dark";
const NEXT: Record<Scheme, Scheme> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<Scheme, [string, string]> = { system: ["◐", "as the system"], light: ["○", "light"], dark: ["●", "dark"] };

function stored(): Scheme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

function apply(scheme: Scheme): void {
  if (scheme === "system") delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

export const startScheme = (): void => apply(stored());

export function schemeSwitch(): HTMLElement {
  let scheme = stored();
  const sign = el("span", { "aria-hidden": "true" });
  const button = el("button", {
    type: "button", class: "scheme", onclick: () => {
      scheme = NEXT[scheme];
      try {
        if (scheme === "system") localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, scheme);
      } catch {
        // Where nothing may be kept, the switch holds until the page is left.
      }
      apply(scheme);
      name();
      document.dispatchEvent(new Event("scheme"));
    },
  }, sign);
  function name(): void {
    const [mark, text] = NAMES[scheme];
    sign.textContent = mark;
    button.title = `Colours: ${text}. Press for ${NAMES[NEXT[scheme]][1]}.`;
    button.setAttribute("aria-label", `Colours: ${text}`);
  }
  name();
  return button;
}
