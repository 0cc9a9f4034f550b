//! Finds secrets in command lines, by the switches and positions in which known programs take them.

use std::ops::Range;

use super::names;
use super::value::ValueRuns;
use crate::tools::shell::{ShellWord, SimpleCommand, simple};

/// A group of programs, and where their commands hold secrets.
pub(super) struct ProgramUsage {
    /// Beginnings of the commands, in any case.
    pub commands: &'static [&'static str],
    /// Patterns for the words of a command, separated by blanks. A pattern may begin at any word.
    ///
    /// `_` is the secret, `*` is any word, `?` is the name of a secret, `..` is any number of words, and `$` is the
    /// last word. `~b` is a group of short flags with this one. A word that ends in `_` holds the secret behind the
    /// given beginning. If a mark of `:=%,/` is before the `_`, as in `:_`, the secret is behind that mark. A word
    /// that ends in `*` only has to begin so.
    ///
    /// `<_` is the input of the program, and `<:_` is each line of its input, behind a colon.
    pub forms: &'static [&'static str],
}

const fn usage(commands: &'static [&'static str], forms: &'static [&'static str]) -> ProgramUsage {
    ProgramUsage { commands, forms }
}

/// Taken from the manuals of the programs.
#[rustfmt::skip]
pub(super) const USAGES: &[ProgramUsage] = &[
    usage(&["mysql ", "mysqldump ", "mysqladmin ", "mysqlimport ", "mariadb ", "mariadb-dump ", "mysql\"", "mysqldump\""], &["-p_"]),
    usage(&["sshpass ", "sshpass\""], &["-p _", "-p_"]),
    usage(&["docker login", "podman login", "nerdctl login", "buildah login", "skopeo login", "helm registry login", "oc login", "cf login", "az login", "az sql ", "twine upload", "rabbitmqadmin ", "conan user"], &["-p _", "--password-stdin <_"]),
    usage(&["mongosh ", "mongo ", "mongodump ", "mongorestore ", "mongoexport ", "mongoimport ", "psexec ", "psexec64 ", "snowsql ", "beeline ", "hdbsql ", "smbmap ", "evil-winrm ", "crackmapexec ", "hydra ", "nuget sources"], &["-p _"]),
    usage(&["az keyvault secret set"], &["--value _"]),
    usage(&["redis-cli ", "redis-cli\""], &["-a _"]),
    usage(&["ldapsearch ", "ldapadd ", "ldapmodify ", "ldapdelete ", "ldappasswd ", "ldapwhoami "], &["-w _"]),
    usage(&["sqlcmd ", "osql ", "bcp ", "isql "], &["-P _", "-P_"]),
    usage(&["7z ", "7za ", "7zr ", "7zz ", "rar ", "unrar "], &["-p_", "-hp_"]),
    usage(&["zip -", "zip ", "unzip ", "ipmitool ", "mosquitto_pub ", "mosquitto_sub "], &["-P _"]),
    usage(&["curl ", "wget ", "http -", "https -", "xh -", "httpie ", "curl\"", "curl'"], &["-u :_", "-u:_", "--user :_", "--user=:_", "-U :_", "--proxy-user :_", "-a :_", "--auth :_", "--auth=:_"]),
    usage(&["htpasswd "], &["~b .. $"]),
    usage(&["smbclient ", "rpcclient ", "net rpc", "mount.cifs "], &["-U %_", "--user=%_"]),
    usage(&["lftp "], &["-u ,_"]),
    usage(&["sqlplus ", "expdp ", "impdp ", "rman ", "sqlldr "], &["/_"]),
    usage(&["rabbitmqctl "], &["add_user * _", "change_password * _"]),
    usage(&["net user "], &["user * _"]),
    usage(&["net use "], &["/user:* _"]),
    usage(&["cmdkey "], &["/pass:_"]),
    usage(&["xfreerdp ", "wfreerdp ", "xfreerdp3 "], &["/p:_"]),
    usage(&["schtasks "], &["/rp _", "/RP _"]),
    usage(&["openssl "], &["-k _", "-K _", "-pass pass:_", "-passin pass:_", "-passout pass:_"]),
    usage(&["ssh-keygen "], &["-N _", "-P _"]),
    usage(&["aws configure set"], &["set ? _"]),
    usage(&["aws secretsmanager "], &["--secret-string _"]),
    usage(&["aws ssm put-parameter"], &["SecureString .. --value _", "--value _ .. SecureString"]),
    usage(&["git config", "npm config set", "npm set", "yarn config set", "pnpm config set", "setx ", "setenv ", "set -x ", "set -gx ", "set -ux ", "dotnet user-secrets", "pip config set", "bundle config"], &["? _"]),
    usage(&["poetry config", "composer config"], &["http-basic.* * _", "pypi-token.* _", "github-oauth.* _", "gitlab-token.* _", "bearer.* _"]),
    usage(&["dotnet nuget push", "nuget push"], &["-k _"]),
    usage(&["gh secret set", "gh variable set"], &["--body _", "-b _", "set * <_"]),
    usage(&["gh auth login"], &["--with-token <_"]),
    usage(&["kubectl create secret", "oc create secret"], &["--from-literal==_", "--from-literal =_"]),
    usage(&["secrets set"], &["=_"]),
    usage(&["vault kv put", "vault kv patch"], &["=_"]),
    usage(&["vault login", "wandb login", "cargo login"], &["login _", "login - <_"]),
    usage(&["ngrok authtoken", "ngrok config add-authtoken"], &["authtoken _", "add-authtoken _"]),
    usage(&["security add-"], &["-w _"]),
    usage(&["snmpwalk ", "snmpget ", "snmpset ", "snmpbulkwalk "], &["-A _", "-X _"]),
    usage(&["wpa_passphrase "], &["wpa_passphrase * _"]),
    usage(&["mc alias set", "mc config host add"], &["set * * * _", "add * * * _"]),
    usage(&["rclone obscure"], &["obscure _"]),
    usage(&["confluent api-key store"], &["store * _"]),
    usage(&["useradd ", "usermod "], &["-p _"]),
    usage(&["chpasswd"], &["chpasswd <:_", "chpasswd .. <:_"]),
    usage(&["sudo -"], &["-S <_", "--stdin <_", "-kS <_", "-Sk <_"]),
    usage(&["passwd "], &["passwd <_", "passwd * <_", "--stdin <_"]),
    usage(&["smbpasswd", "keepassxc-cli", "cryptsetup ", "kinit "], &["<_"]),
    usage(&["gcloud secrets "], &["--data-file=- <_", "--data-file - <_"]),
    usage(&["wrangler secret put", "vercel env add"], &["<_"]),
];

/// How many bytes of a line are read before the name of a command.
const BEFORE: usize = 512;
/// How many bytes of a line are read behind the name of a command.
const BEHIND: usize = 1_024;
/// At most this many words of a command are read.
const WORDS: usize = 64;

/// The byte range of a secret in a command, and whether it is in quotes.
pub(super) type CommandSecret = (Range<usize>, bool);

/// The last line that was read, kept because it may hold the names of several commands.
#[derive(Debug, Default)]
pub(super) struct CommandLine {
    /// Byte range of the line.
    at: Range<usize>,
    /// A command before this position needs no other reading of the line.
    read: usize,
    /// The simple commands of the line.
    commands: Vec<SimpleCommand>,
    /// For each usage, the position up to which its commands were searched.
    followed: Vec<usize>,
}

/// The secrets in the command whose name is at `hit`. `at` is the index of its usage in `USAGES`.
pub(super) fn secrets(
    text: &str,
    hit: &Range<usize>,
    at: usize,
    line: &mut CommandLine,
) -> Vec<CommandSecret> {
    line.followed.resize(USAGES.len(), 0);
    if hit.start < line.followed[at] {
        return Vec::new();
    }
    let usage = &USAGES[at];
    let followed = at;
    let bytes = text.as_bytes();
    let opens = |b: &u8| b.is_ascii_whitespace() || b"\"'`;|&($/\\=[{".contains(b);
    let before = &bytes[..hit.start];
    if !(before.last().is_none_or(opens) || names::after_escape(before)) {
        return Vec::new();
    }
    if let Some(list) = list(text, hit) {
        return usage
            .forms
            .iter()
            .flat_map(|form| form_secrets(text, 0, &list, &[], form))
            .collect();
    }
    line.read(text, hit);
    let Some(at) = line.commands.iter().position(|one| line.at.start + one.end > hit.start) else {
        return Vec::new();
    };
    let one = &line.commands[at];
    let base = line.at.start;
    // Words before the name are `sudo`, assignments and the like.
    let first = one.words.iter().position(|word| base + word.at.end > hit.start).unwrap_or(0);
    let words = &one.words[first..one.words.len().min(first + WORDS)];
    let fed = fed(&line.commands, at);
    line.followed[followed] = words.last().map_or(0, |last| base + last.at.end);
    let mut out: Vec<CommandSecret> = Vec::new();
    for form in usage.forms {
        out.extend(form_secrets(text, base, words, &fed, form));
        if form.ends_with("<:_") && fed.is_empty() {
            out.extend(heredoc(text, hit.end));
        }
    }
    out
}

impl CommandLine {
    /// Reads the line around `hit`, unless it was read last time.
    fn read(&mut self, text: &str, hit: &Range<usize>) {
        if self.at.start <= hit.start && hit.end <= self.read {
            return;
        }
        let (start, depth) = start(text, hit.start);
        let limit = text.floor_char_boundary(hit.start + BEHIND);
        let mut end = hit.end + line_end(&text[hit.end.min(limit)..limit]);
        if let Some(depth) = depth {
            end = end.min(string_end(text, hit.start, end, depth));
        } else if let Some(quote) = open_quote(&text[start..end]) {
            end = (start + quote).max(hit.end);
        }
        // A line that is cut at the limit is read again for later commands, which need the words behind it.
        self.read = if end == limit { hit.start + BEHIND / 2 } else { end };
        self.at = start..end;
        self.commands = simple(&text[start..end]);
    }
}

/// The start of a command's line: behind a line break, or behind the opening quote of a JSON string. For a JSON
/// string, the answer has the number of backslashes before that quote, too; line breaks are escapes inside it.
fn start(text: &str, hit: usize) -> (usize, Option<usize>) {
    let from = text.ceil_char_boundary(hit.saturating_sub(BEFORE));
    let before = &text.as_bytes()[from..hit];
    for (at, byte) in before.iter().enumerate().rev() {
        if *byte == b'\n' {
            return (from + at + 1, None);
        }
        let front = before[..at].iter().rev();
        let opens = front.clone().find(|b| !matches!(b, b' ' | b'\\'));
        if *byte == b'"' && opens.is_none_or(|b| b":[,({=".contains(b)) {
            let open = from + at + 1;
            let line = text[open..hit].rfind("\\n").map_or(open, |line| open + line + 2);
            return (line, Some(front.take_while(|b| **b == b'\\').count()));
        }
    }
    (from, None)
}

/// The end of a line, together with the lines that continue it after a `\`.
fn line_end(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes());
    ends.into_iter().find(|at| !text[..*at].ends_with('\\')).unwrap_or(text.len())
}

/// The end of the JSON string that is open at `from`: its closing quote, or an escaped line break in it.
fn string_end(text: &str, from: usize, to: usize, depth: usize) -> usize {
    let mut escapes = 0;
    for (at, byte) in (from..to).zip(text[from..to].bytes()) {
        match byte {
            b'\\' => escapes += 1,
            b'"' if escapes <= depth => return at - escapes,
            b'n' if escapes == depth + 1 => return at - escapes,
            _ => escapes = 0,
        }
    }
    to
}

/// Byte offset of a quote that is never closed; `None` where all are closed.
fn open_quote(line: &str) -> Option<usize> {
    let mut open: Option<(usize, u8)> = None;
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match (byte, open) {
            _ if escaped => escaped = false,
            (b'\\', _) => escaped = true,
            (b'"' | b'\'', None) => open = Some((at, byte)),
            (_, Some((_, quote))) if byte == quote => open = None,
            _ => {}
        }
    }
    open.map(|(at, _)| at)
}

/// The words of a command that is written as a list of strings, such as `["curl", "-u", "a:b"]`. `None` for any other
/// command.
fn list(text: &str, hit: &Range<usize>) -> Option<Vec<ShellWord>> {
    let quote = text[..hit.start].chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let limit = text.floor_char_boundary(hit.start + BEHIND);
    let rest = &text[hit.start..limit];
    let close = rest.find(quote)?;
    let comma = rest[close + 1..].trim_start().starts_with(',');
    if !comma || close > hit.len() {
        return None;
    }
    let (mut words, mut runs, mut at) = (Vec::new(), ValueRuns::default(), hit.start + close + 1);
    while words.len() < WORDS && at < limit {
        let Some(open) = text[at..limit].find([quote, ']']) else { break };
        if text.as_bytes()[at + open] == b']' {
            break;
        }
        let depth = text[at..at + open].bytes().rev().take_while(|b| *b == b'\\').count();
        let word = match super::value::quoted(text, at + open - depth, &mut runs) {
            Some(word) => word,
            // The string is too short for a value, but it is still a word of the command.
            None => {
                let from = at + open + 1;
                from..from + text[from..limit].find(quote)?
            }
        };
        at = word.end + text[word.end..].find(quote)? + 1;
        words.push(ShellWord::at(text, word));
    }
    Some(words)
}

/// The secrets that a form finds in the words, which start at byte `base`.
fn form_secrets(
    text: &str,
    base: usize,
    words: &[ShellWord],
    fed: &[&ShellWord],
    form: &str,
) -> Vec<CommandSecret> {
    let form: Vec<&str> = form.split(' ').collect();
    let all = |fed: Option<&ShellWord>| -> Vec<CommandSecret> {
        (0..words.len()).filter_map(|at| follow(text, base, &words[at..], fed, &form)).collect()
    };
    if form.last().is_some_and(|last| last.starts_with('<')) {
        return fed.iter().flat_map(|word| all(Some(word))).collect();
    }
    all(None)
}

/// The input of the command with this index: a here-string, or the output of an `echo` piped into it.
fn fed(commands: &[SimpleCommand], at: usize) -> Vec<&ShellWord> {
    if let Some(fed) = &commands[at].fed {
        return vec![fed];
    }
    let before = commands[..at].iter().rev();
    if !commands[..at].last().is_some_and(|one| one.piped) {
        return Vec::new();
    }
    let says = |one: &&SimpleCommand| {
        one.words.is_empty()
            || one.words.iter().any(|word| matches!(&*word.text, "echo" | "printf" | "print"))
    };
    before.take(4).take_while(says).filter_map(|one| one.words.get(1..)?.last()).collect()
}

/// The secret where the words match the form; `None` where they do not.
fn follow(
    text: &str,
    base: usize,
    words: &[ShellWord],
    fed: Option<&ShellWord>,
    form: &[&str],
) -> Option<CommandSecret> {
    let (head, tail) = form.split_first()?;
    if let Some(start) = head.strip_prefix('<') {
        return secret_in(text, base, fed?, start.trim_end_matches('_'));
    }
    if *head == ".." {
        return (0..=words.len()).find_map(|at| follow(text, base, &words[at..], fed, tail));
    }
    let (word, rest) = words.split_first()?;
    let fits = match *head {
        "$" if !rest.is_empty() => return None,
        "_" | "$" => true,
        "*" => !word.text.starts_with('-'),
        "?" => names::tells(&word.text),
        secret if secret.ends_with('_') => {
            return secret_in(text, base, word, secret.trim_end_matches('_'));
        }
        flag if flag.starts_with('~') => {
            let short = word.text.starts_with('-') && !word.text.starts_with("--");
            short && word.text.contains(&flag[1..])
        }
        start if start.ends_with('*') => word.text.starts_with(start.trim_end_matches('*')),
        whole => word.text == whole,
    };
    if !fits {
        return None;
    }
    if !matches!(*head, "_" | "$") {
        return follow(text, base, rest, fed, tail);
    }
    // Words behind the secret may be needed to prove that it is one.
    let more =
        tail.is_empty() || matches!(tail, ["..", last] if rest.iter().any(|w| w.text == *last));
    if more { secret_in(text, base, word, "") } else { None }
}

/// The secret in a word, behind this beginning. A mark at the end of the beginning separates a name from the secret.
fn secret_in(text: &str, base: usize, word: &ShellWord, start: &str) -> Option<CommandSecret> {
    let mark = start.chars().next_back().filter(|mark| ":=%,/".contains(*mark));
    let start = mark.and_then(|mark| start.strip_suffix(mark)).unwrap_or(start);
    let mut secret = word.text.trim_matches(['"', '\'']).strip_prefix(start)?;
    if let Some(mark) = mark {
        let (name, behind) = secret.split_once(mark)?;
        if name.contains(['/', ' ']) || name.is_empty() && mark == '/' {
            return None;
        }
        secret = behind;
        if mark == '/' {
            // Oracle: `user/password@database`.
            secret = behind.rsplit_once('@').map_or(behind, |(secret, _)| secret);
        }
    }
    let secret = secret.trim_matches(['"', '\'']);
    let secret = ["\\r", "\\n"]
        .iter()
        .fold(secret, |secret, end| secret.strip_suffix(end).unwrap_or(secret));
    let raw = base + word.at.start..base + word.at.end;
    let quoted = text[raw.clone()].contains(['"', '\'']);
    let at = match text[raw.clone()].rfind(secret) {
        Some(at) => raw.start + at..raw.start + at + secret.len(),
        // The secret holds escapes, so the whole word is replaced.
        None => raw,
    };
    (!secret.is_empty()).then_some((at, quoted))
}

/// The secrets in a heredoc behind `from`: the text behind the colon of each line.
fn heredoc(text: &str, from: usize) -> Vec<CommandSecret> {
    let limit = text.floor_char_boundary(from + BEHIND);
    let Some((first, body)) = text[from..limit].split_once('\n') else { return Vec::new() };
    let Some((_, end)) = first.split_once("<<") else { return Vec::new() };
    let end = end.trim_matches(['-', ' ', '\'', '"']);
    let mut at = from + first.len() + 1;
    let mut out = Vec::new();
    for line in body.split_inclusive('\n') {
        if line.trim() == end {
            break;
        }
        if let Some((name, secret)) = line.split_once(':') {
            let from = at + name.len() + 1;
            out.push((from..from + secret.trim_end().len(), false));
        }
        at += line.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_name_what_is_known() {
        for usage in USAGES {
            assert!(!usage.commands.is_empty() && !usage.forms.is_empty());
            let ends = |form: &&str| form.split(' ').any(|word| word.ends_with('_') || word == "$");
            assert!(usage.forms.iter().all(ends), "{:?}", usage.forms);
        }
    }
}
