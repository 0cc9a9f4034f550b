"""mini-swe-agent on Chat Completions: its commands are blocks of its text, results are text too."""

import os

from common import BASE, KEY, MODEL, TASK, WORK, run

os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = f"{WORK}/mini"
os.environ["MSWEA_COST_TRACKING"] = "ignore_errors"
os.environ["MSWEA_SILENT_STARTUP"] = "1"


def agent():
    import yaml
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.config import builtin_config_dir
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel

    config = yaml.safe_load((builtin_config_dir / "mini_textbased.yaml").read_text())
    for name in ("mode", "confirm_exit"):
        config["agent"].pop(name, None)
    model = LitellmTextbasedModel(
        **{
            **config["model"],
            "model_name": f"openai/{MODEL}",
            "model_kwargs": {"api_base": f"{BASE}/v1", "api_key": KEY},
        }
    )
    done = DefaultAgent(model, LocalEnvironment(cwd=WORK), **config["agent"]).run(TASK)
    if done.get("exit_status") != "Submitted":
        raise RuntimeError(f"{done.get('exit_status')}: {done.get('submission')}")
    return done.get("submission")


run("mini_swe_agent", agent)
