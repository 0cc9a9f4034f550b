"""`python -m midfold.hermes`: what it writes, that it takes just that out again, what is wrong."""

from __future__ import annotations

import sys

import midfold
import pytest
from midfold.hermes import doctor
from midfold.hermes.__main__ import main
from midfold.hermes.install import home_of_host, install, uninstall
from midfold.hermes.settings import settings_of
from midfold.hermes.yaml_edit import Document, EditError

CONFIGS = {
    "": "context:\n  engine: midfold\nplugins:\n  enabled:\n    - midfold\n",
    # No end of the last line, and comments.
    "# mine\nmodel: x  # keep": (
        "# mine\nmodel: x  # keep\ncontext:\n  engine: midfold\nplugins:\n  enabled:\n    - midfold"
    ),
    # An engine of before, with a comment; a list at its key's indent.
    "context:\n    # y\n    engine: lcm   # old\nplugins:\n  enabled:\n  - a\n  - 'b'\n  x: 1\n": (
        "context:\n    # y\n    engine: midfold   # old\n"
        "plugins:\n  enabled:\n  - a\n  - 'b'\n  - midfold\n  x: 1\n"
    ),
    'context: {}\nplugins:\n  enabled: ["a", b]  # two\n': (
        'context:\n  engine: midfold\nplugins:\n  enabled: ["a", b, midfold]  # two\n'
    ),
    "plugins:  # those\n  disabled: []\n\nother:\n  engine: no\n": (
        "plugins:  # those\n  enabled:\n    - midfold\n  disabled: []\n\nother:\n  engine: no\n"
        "context:\n  engine: midfold\n"
    ),
    "context:\n  engine:\nplugins:\n  enabled: []\n": (
        "context:\n  engine: midfold\nplugins:\n  enabled: [midfold]\n"
    ),
    "plugins:\n  enabled:\n  other: 1\ncontext: null # none\n": (
        "plugins:\n  enabled:\n    - midfold\n  other: 1\ncontext:  # none\n  engine: midfold\n"
    ),
    "a: |\n  context:\n    engine: text\r\nb: 1\r\n": (
        "a: |\n  context:\n    engine: text\r\nb: 1\r\n"
        "context:\r\n  engine: midfold\r\nplugins:\r\n  enabled:\r\n    - midfold\r\n"
    ),
}


@pytest.mark.parametrize("before", CONFIGS, ids=range(len(CONFIGS)))
def test_a_configuration_gets_two_lines_and_loses_just_those(tmp_path, before):
    config = tmp_path / "config.yaml"
    config.write_bytes(before.encode())
    install(tmp_path)
    assert config.read_bytes().decode() == CONFIGS[before]
    assert install(tmp_path) == [f"{tmp_path}/plugins/midfold: everything is there already"]
    assert config.read_bytes().decode() == CONFIGS[before]
    uninstall(tmp_path)
    assert config.read_bytes().decode() == before
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


@pytest.mark.parametrize("before", CONFIGS, ids=range(len(CONFIGS)))
def test_yaml_reads_the_same_but_for_the_two(tmp_path, before):
    yaml = pytest.importorskip("yaml")
    was, now = yaml.safe_load(before) or {}, yaml.safe_load(CONFIGS[before])
    assert now["context"]["engine"] == "midfold"
    enabled = (was.get("plugins") or {}).get("enabled") or []
    assert now["plugins"]["enabled"] == [*enabled, "midfold"]
    for config in (was, now):
        for section, key in (("context", "engine"), ("plugins", "enabled")):
            config[section] = dict(config.get(section) or {})
            config[section].pop(key, None)
    assert was == now


def test_a_home_that_was_not_there_is_gone_again(tmp_path):
    home = tmp_path / "hermes"
    assert len(install(home)) == 3
    assert "kind: standalone" in (home / "plugins/midfold/plugin.yaml").read_text()
    assert len(uninstall(home)) == 2
    assert not home.exists()
    assert uninstall(home) == [f"{home}/plugins/midfold: nothing was installed"]


def test_what_a_user_changed_since_stays(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("model: x\n")
    install(tmp_path)
    config.write_text("# new\n" + config.read_text() + "more: 1\n")
    uninstall(tmp_path)
    assert config.read_text() == "# new\nmodel: x\nmore: 1\n"


def test_a_plugin_that_was_set_up_by_hand_stays_in_the_configuration(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(CONFIGS[""])
    install(tmp_path)
    uninstall(tmp_path)
    assert config.read_text() == CONFIGS[""]


@pytest.mark.parametrize(
    "text",
    [
        '{"model": "x"}\n',
        "context: {engine: lcm}\n",
        "a: &a\n  engine: lcm\ncontext: *a\n",
        "plugins:\n  enabled: a\n",
        "context:\n  engine: |\n    lcm\n",
        "plugins:\n  enabled:\n    a: 1\n",
        "- a\n",
    ],
)
def test_what_is_written_another_way_is_left_alone(tmp_path, text, capsys):
    config = tmp_path / "config.yaml"
    config.write_text(text)
    assert main(["install", "--home", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert str(config) in said and "enabled:\n    - midfold" in said
    assert config.read_text() == text
    assert not (tmp_path / "plugins").exists()


def test_edits_that_are_gone_are_named(tmp_path):
    install(tmp_path)
    (tmp_path / "config.yaml").write_text("model: x\n")
    with pytest.raises(midfold.InputError, match="no longer has the lines"):
        uninstall(tmp_path)
    assert (tmp_path / "plugins/midfold/__init__.py").exists()


def test_the_configuration_keeps_its_rights(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("api_key: secret\n")
    config.chmod(0o600)
    install(tmp_path)
    assert config.stat().st_mode & 0o777 == 0o600


def test_undone_takes_the_nearest_lines():
    document = Document("a:\n  x: 1\n")
    document.add("plugins", "enabled", "midfold")
    with pytest.raises(EditError):
        Document("a: 1\n").undone(document.edits)


def test_home_of_host(monkeypatch, tmp_path):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert home_of_host() == tmp_path
    assert home_of_host("/x") != tmp_path
    monkeypatch.delenv("HERMES_HOME")
    assert home_of_host().name == ".hermes"


def told(home, python=sys.executable):
    return " / ".join(f"{problem}: {remedy}" for problem, remedy in doctor.problems(home, python))


def test_doctor_names_what_is_missing(tmp_path, monkeypatch):
    ask = {"agent.context_engine": None, "midfold.hermes": None, "config": {}}
    monkeypatch.setattr(doctor, "_ask", lambda python, config: ask)
    said = told(tmp_path)
    assert "the plug-in is not there" in said and "install --home" in said
    assert "context.engine is compressor" in said
    install(tmp_path)
    good = {"context": {"engine": "midfold"}, "plugins": {"enabled": ["midfold"]}}
    ask["config"] = good
    assert told(tmp_path) == ""
    assert main(["doctor", "--home", str(tmp_path), "--python", "x"]) == 0
    ask["config"] = {**good, "platform_toolsets": {"cli": ["terminal"], "telegram": []}}
    assert "platform_toolsets.telegram is empty" in told(tmp_path)
    assert "cli" not in told(tmp_path)
    ask["config"] = {**good, "compression": {"enabled": False}}
    assert "compression.enabled is false" in told(tmp_path)
    ask["config"] = {**good, "plugins": {"enabled": ["midfold"], "disabled": ["midfold"]}}
    assert "hermes plugins enable midfold" in told(tmp_path)
    entry = {"enabled": ["midfold"], "entries": {"midfold": {"prest": "lean"}}}
    ask["config"] = {**good, "plugins": entry}
    assert "plugins.entries.midfold.prest: there is no such setting" in told(tmp_path)
    ask["config"] = good
    ask["midfold.hermes"] = "ModuleNotFoundError: no"
    assert f"{sys.executable} -m pip install midfold" in told(tmp_path)
    ask["agent.context_engine"] = "ModuleNotFoundError: no"
    assert "pip install -U hermes-agent" in told(tmp_path)


def test_doctor_asks_the_python_of_the_host(tmp_path):
    said = told(tmp_path, str(tmp_path / "no-python"))
    assert "does not run" in said and "--python PATH" in said


def test_doctor_finds_the_command_of_the_host(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.interpreter() is None
    assert "no Hermes Agent was found" in told(tmp_path, None)
    command = tmp_path / "hermes"
    command.write_text("#!/opt/hermes/bin/python3\n")
    command.chmod(0o755)
    assert doctor.interpreter() == "/opt/hermes/bin/python3"


def test_settings():
    entry = {"preset": "lean", "narrate": True, "store": "sqlite:/x.db"}
    assert settings_of({"plugins": {"entries": {"midfold": entry}}}) == entry
    assert settings_of({}) == settings_of({"plugins": {"entries": {"midfold": None}}}) == {}
    with pytest.raises(midfold.InputError, match="narrate: 'yes'"):
        settings_of({"plugins": {"entries": {"midfold": {"narrate": "yes"}}}})
    with pytest.raises(midfold.InputError, match=r"config.yaml: plugins.entries.midfold"):
        settings_of({"plugins": {"entries": {"midfold": "lean"}}})
