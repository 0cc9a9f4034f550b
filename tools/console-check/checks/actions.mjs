// The actions: each says what it will do before it does it. Against made-up data only: they change a session.

import { holds, open, place, same } from "./support.mjs";

export async function actions(given) {
  const { test, mock, call } = given;
  if (!mock) return;
  const id = "session-00004";
  const { page, faults, close } = await open(given, place(id));
  const dialog = page.locator("dialog");
  const press = (name) => page.getByRole("button", { name, exact: true }).first().click();
  const confirm = async (name) => {
    await page.waitForFunction(() => document.querySelector("dialog .primary:not(:disabled)"));
    await dialog.getByRole("button", { name, exact: true }).click();
    await page.waitForSelector("dialog .did");
  };
  const closeDialog = async () => {
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.waitForSelector("dialog", { state: "detached" });
  };
  const session = () => call("GET", `/v1/sessions/${id}`);

  await test("compact: the preview changes nothing and follows the focus, the yes folds", async () => {
    const before = await session();
    await press("Fold now …");
    await page.waitForSelector("dialog .sizes");
    holds(await dialog.innerText(), "Compressed:");
    await dialog.locator("input").fill("LED-4001");
    await page.waitForFunction(() => document.querySelector("dialog")?.textContent.includes("Focus: LED-4001"));
    same((await session()).folds, before.folds, "folds after a preview");
    await confirm("Fold");
    await closeDialog();
    same((await session()).folds, before.folds + 1, "folds");
    await page.waitForFunction((number) => document.querySelector(".facts")?.textContent.includes(`fold ${number} is active`), before.folds + 1);
    await press("Fold now …");
    await page.waitForFunction(() => document.querySelector("dialog")?.textContent.includes("nothing new"));
    same(await dialog.locator(".primary").isDisabled(), true, "nothing to do");
    await page.keyboard.press("Escape");
  });

  await test("undo: says which fold and which is active then, and takes it back", async () => {
    const before = await session();
    await press("Undo …");
    await page.waitForSelector("dialog .sizes");
    holds(await dialog.innerText(), `Would take back fold ${before.active}`);
    await confirm("Undo");
    holds(await dialog.innerText(), `Took back fold ${before.active}`);
    await closeDialog();
    same((await session()).active, before.active - 1, "active fold");
  });

  await test("pin, and unpin: with what goes with the message", async () => {
    await page.goto(`${given.base}/${place(id, "/messages/8")}`);
    await page.waitForSelector(".message");
    await press("Pin …");
    await page.waitForSelector("dialog .headline");
    holds(await dialog.innerText(), "@8, and with it @9");
    await confirm("Pin");
    await closeDialog();
    holds(JSON.stringify((await session()).status.pins), "8,9");
    await page.waitForSelector(".message button:has-text('Unpin')");
    await press("Unpin …");
    await confirm("Unpin");
    await closeDialog();
    same((await session()).status.pins.includes(8), false, "pinned");
  });

  await test("bring back: by the undo of a fold, or by a pin and another fold", async () => {
    await page.goto(`${given.base}/${place(id, "/forgot?text=reserve_batch")}`);
    await page.waitForSelector(".occurrence");
    const before = await session();
    await page.getByRole("button", { name: /^Bring back: undo fold/ }).first().click();
    await page.waitForSelector("dialog .headline");
    holds(await dialog.innerText(), "comes back with it");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    same((await session()).active, before.active, "active after a look");
    await page.getByRole("button", { name: "Bring back: pin and fold again …" }).first().click();
    await confirm("Pin");
    await dialog.getByRole("button", { name: "Go on: fold again …" }).click();
    await page.waitForSelector("dialog .sizes");
    await confirm("Fold");
    await closeDialog();
    same((await session()).active, (await session()).folds, "the newest fold is active");
  });

  await test("policy, fork, delete", async () => {
    await page.goto(`${given.base}/${place(id)}`);
    await page.waitForSelector(".actions button");
    await press("Policy …");
    await page.waitForFunction(() => document.querySelectorAll("dialog option").length > 2);
    await dialog.locator("select").selectOption("nucleic");
    await page.waitForSelector("dialog .change");
    await confirm("Change");
    await closeDialog();
    same((await session()).policy, "nucleic", "policy");
    await press("Fork …");
    await dialog.locator("input[type=number]").fill("50");
    await page.waitForFunction(() => document.querySelector("dialog")?.textContent.includes("@0 to @49"));
    await dialog.locator("input[type=text]").fill("forked");
    await confirm("Fork");
    await dialog.getByRole("link", { name: "forked" }).click();
    await page.waitForFunction(() => document.querySelector(".crumb")?.textContent.includes("forked"));
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await press("Delete …");
    await page.waitForSelector("dialog .headline");
    holds(await dialog.innerText(), "Would delete 50 messages");
    await confirm("Delete for good");
    await closeDialog();
    await page.waitForSelector(".list");
    same(faults, [], "faults");
  });
  await close();
}
