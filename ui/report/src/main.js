// The page: reads the replay that stands in it and draws it.

import { read } from "../../parts/data.js";
import { definitions } from "../../parts/definitions.js";
import { el, note } from "../../parts/dom.js";
import { replaySections, section } from "../../parts/replay.js";
import { summary } from "./summary.js";

function start() {
  const page = document.getElementById("page");
  let data;
  try {
    data = read(document.getElementById("replay").textContent);
  } catch (error) {
    page.replaceChildren(el("h1", {}, "This report holds no replay that can be read"), note(String(error)));
    return;
  }
  page.replaceChildren(summary(data), ...replaySections(data), section("definitions", "What the measures mean", null, definitions(data)));
  document.documentElement.dataset.ready = "true";
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
