mod cost;
mod sets;

use sets::random_text;

use super::rules::KeyRule;
use super::*;
use proptest::prelude::*;

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER_HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn uuid() -> String {
    let hex = random_text(LOWER_HEX, 32);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A rule: its name, the text before a secret, the secret, and the text after it.
type SecretRow = (&'static str, String, String, &'static str);

/// A secret that is known by how it begins, in two parts, and its rest.
fn own(name: &'static str, parts: [&str; 2], rest: String) -> SecretRow {
    (name, "key is ".to_owned(), format!("{}{}{rest}", parts[0], parts[1]), " ok")
}

/// A secret that is known by the text before it.
fn after(name: &'static str, before: &str, secret: String, end: &'static str) -> SecretRow {
    (name, before.to_owned(), secret, end)
}

fn an(n: usize) -> String {
    random_text(ALNUM, n)
}

fn hex(n: usize) -> String {
    random_text(LOWER_HEX, n)
}

/// A secret for each rule.
fn positives() -> Vec<SecretRow> {
    [clouds(), services(), places()].concat()
}

/// Of clouds and code hosts, mostly.
fn clouds() -> Vec<SecretRow> {
    vec![
        own("aws-access-key", ["AK", "IA"], random_text(UPPER, 16)),
        after("aws-secret", "aws_secret_access_key = ", an(40), "\n"),
        after("aws-secret", "\"SecretAccessKey\": \"", an(40), "\""),
        own("github", ["gh", "p_"], an(36)),
        own("github", ["gh", "s_"], an(36)),
        own("github-pat", ["github", "_pat_"], format!("{}_{}", an(22), an(59))),
        own("gitlab", ["glp", "at-"], an(20)),
        own("slack", ["xo", "xb-"], format!("123456789012-{}", an(24))),
        own(
            "slack-app",
            ["xa", "pp-"],
            format!("1-A0{}-1234567890-{}", random_text(UPPER, 8), hex(40)),
        ),
        after(
            "slack-webhook",
            "https://hooks.slack.com/services/",
            format!("T{}/B{}/{}", random_text(UPPER, 8), random_text(UPPER, 8), an(24)),
            " ",
        ),
        own("stripe", ["sk_", "live_"], an(24)),
        own("stripe", ["rk_", "live_"], an(24)),
        own("stripe-webhook", ["wh", "sec_"], an(32)),
        own("openai", ["s", "k-"], an(48)),
        own("openai", ["s", "k-proj-"], an(64)),
        own("anthropic", ["sk-", "ant-api03-"], an(93)),
        own("openrouter", ["sk-", "or-v1-"], hex(64)),
        own("google-api", ["AI", "za"], an(35)),
        own("google-oauth", ["ya", "29."], an(60)),
        own("google-oauth", ["GOC", "SPX-"], an(28)),
        after("azure-storage", "AccountName=x;AccountKey=", format!("{}==", an(86)), ";End"),
        after(
            "azure-sas",
            "https://x.blob.core.windows.net/c?sv=2022&sig=",
            format!("{}%3D", an(43)),
            "&se=1",
        ),
        own("npm", ["np", "m_"], an(36)),
        own("pypi", ["py", "pi-"], an(80)),
        own("huggingface", ["h", "f_"], an(34)),
        own("twilio", ["S", "K"], hex(32)),
        own("sendgrid", ["S", "G."], format!("{}.{}", an(22), an(43))),
        own("mailgun", ["ke", "y-"], hex(32)),
        own("telegram", ["123456", "789:AA"], an(33)),
        after("discord", "DISCORD_TOKEN: ", format!("MT{}.{}.{}", an(22), an(6), an(38)), "\n"),
        after(
            "discord-webhook",
            "https://discord.com/api/webhooks/123456789012345678/",
            an(68),
            " ",
        ),
        own("digitalocean", ["dop", "_v1_"], hex(64)),
        own("heroku", ["HR", "KU-"], an(36)),
        after("heroku-uuid", "HEROKU_KEY=", uuid(), "\n"),
        own("databricks", ["da", "pi"], hex(32)),
        own("linear", ["lin", "_api_"], an(40)),
    ]
}

/// Of services.
fn services() -> Vec<SecretRow> {
    vec![
        own("notion", ["nt", "n_"], an(46)),
        own("notion", ["sec", "ret_"], an(43)),
        own("shopify", ["shp", "at_"], hex(32)),
        own("jwt", ["ey", "J"], format!("{}.eyJ{}.{}", an(30), an(60), an(43))),
        own("vault", ["hv", "s."], an(24)),
        own("grafana", ["gl", "sa_"], format!("{}_{}", an(32), hex(8))),
        own("new-relic", ["NR", "AK-"], random_text(UPPER, 27)),
        own("postman", ["PM", "AK-"], format!("{}-{}", hex(24), hex(34))),
        own("pulumi", ["pu", "l-"], hex(40)),
        own("rubygems", ["ruby", "gems_"], hex(48)),
        own("groq", ["gs", "k_"], an(52)),
        own("replicate", ["r", "8_"], an(37)),
        own("perplexity", ["pp", "lx-"], an(48)),
        own("xai", ["x", "ai-"], an(80)),
        own("docker", ["dckr", "_pat_"], an(27)),
        own("sentry", ["snt", "rys_"], an(80)),
        own("atlassian", ["AT", "ATT3"], an(180)),
        own("figma", ["fi", "gd_"], an(40)),
        own("planetscale", ["pscale", "_tkn_"], an(43)),
        own("age", ["AGE-SECRET", "-KEY-1"], random_text(UPPER, 58)),
        after("authorization", "Authorization: Basic ", format!("{}==", an(22)), "\r\n"),
        after("authorization", "-H 'authorization: Bearer ", an(30), "'"),
        after("bearer", "uses bearer ", an(32), " there"),
        after("url-password", "postgres://app:", an(9), "@db-prod-1:5432/orders"),
        after("url-password", "redis://:", "pw".repeat(3), "@cache/0"),
        after("password", "password = \"", "Tr0ub4dor".to_owned(), "\""),
        after("password", "DB_PASSWORD=", "hunter2!".to_owned(), "\n"),
        after("password", "{\\\"pwd\\\": \\\"", "Summer2024".to_owned(), "\\\"}"),
        after("assigned", "api_key: ", an(32), "\n"),
        after("assigned", "const apiToken = '", an(24), "';"),
        after("assigned", "\"client_secret\": \"", hex(40), "\","),
        after("assigned", "export MY_SECRET_KEY=", an(40), "\n"),
        own("aws-session", ["IQoJb3", "JpZ2lu"], an(400)),
        after("aws-signature", "?X-Amz-Signature=", hex(64), "&x=1"),
        after("azure-client", "id ", format!("{}8Q~{}", an(3), an(34)), " ok"),
        after("azure-key", "id ", format!("{}JQQJ99{}", an(40), an(38)), " ok"),
    ]
}

/// Secrets that are known by their place.
fn places() -> Vec<SecretRow> {
    vec![
        own("square", ["sq0", "atp-"], an(22)),
        own("square", ["EA", "AA"], an(60)),
        own("vendor", ["nf", "p_"], an(40)),
        own("vendor", ["tskey-", "auth-"], format!("{}-{}", an(12), an(32))),
        after("mailchimp", "id ", format!("{}-us12", hex(32)), " ok"),
        after("terraform", "a.atlasv1.", an(67), " ok"),
        after(
            "teams-webhook",
            "https://x/IncomingWebhook/",
            format!("{}/{}", hex(32), uuid()),
            " ",
        ),
        after("password-hash", "app:", format!("$2b$12${}", an(53)), ":x"),
        after("basic", "uses Basic ", "YXBwOmh1bnRlcjJ4".to_owned(), "\n"),
        after("auth-pair", "\"auth\": \"", "YXBwOmh1bnRlcjJ4".to_owned(), "\""),
        after("auth-pair", "\\\"auth\\\": \\\"", "YXBwOmh1bnRlcjJ4".to_owned(), "\\\""),
        after("auth-tuple", "get(url, auth=(\"app\", \"", "s3cretpw".to_owned(), "\"))"),
        after("cookie", "Cookie: ", format!("session={}; a=b", an(32)), "\r\n"),
        after("netrc", "machine x login ci password ", an(12), "\n"),
        after("pgpass", "db:5432:orders:app:", an(12), "\n"),
        after("element", "<password>", an(12), "</password>"),
        after("docker-env", "ENV API_TOKEN ", an(24), "\n"),
        after("passin", "openssl -passin pass:", "hunter2x".to_owned(), " -in x"),
        after("npm-auth", "npm config set _authToken ", an(24), "\n"),
        after("oracle-pair", "jdbc:oracle:thin:app/", "tiger12".to_owned(), "@db:1521:x"),
        after("dsn-pair", "\"app:", "hunter2x".to_owned(), "@tcp(db:3306)/x"),
        after("url-key", "https://", an(40), "@git.acme.io/x"),
        after("curl-user", "curl -s -u app:", "hunter2x".to_owned(), " https://x"),
        after("mysql-flag", "mysql -uroot -p", "hunter2x".to_owned(), " db"),
        after("login-flag", "docker login -u ci -p ", "hunter2x".to_owned(), " reg"),
        after("redis-flag", "redis-cli -a ", "hunter2x".to_owned(), " ping"),
        after("ldap-flag", "ldapsearch -x -w ", "hunter2x".to_owned(), " -b x"),
        after("flag", "tool --password ", "hunter2x".to_owned(), " go"),
        after("flag", "[\"--db-password\", \"", "hunter2x".to_owned(), "\"]"),
        after("flag-token", "tool --token ", an(24), " go"),
        after("pass", "SMTP_PASS=", "hunter2x".to_owned(), "\n"),
        after("pass", "GITHUB_PAT=", an(40), "\n"),
        after("wrapped", "data: ", "REJfUEFTU1dPUkQ9aHVudGVyMng=".to_owned(), "\n"),
        after(
            "private-key",
            "",
            format!("-----BEGIN {} KEY-----\n{}\n-----END {0} KEY-----", "RSA PRIVATE", an(64)),
            "\nrest",
        ),
        after(
            "private-key",
            "\"private_key\": \"",
            format!("-----BEGIN {} KEY-----\\n{}\\n-----END {0} KEY-----", "PRIVATE", an(64)),
            "\\n\"",
        ),
    ]
}

#[test]
fn every_format_is_found_and_only_the_secret_goes() {
    let mut seen = std::collections::BTreeSet::new();
    for (name, before, secret, after) in positives() {
        seen.insert(name);
        let text = format!("some text\n{before}{secret}{after}");
        let (out, count) = Redactor::shared().redact(&text);
        assert_eq!(out, format!("some text\n{before}{REPLACEMENT}{after}"), "{name}: {text}");
        assert_eq!(count, 1, "{name}");
        assert_eq!(Redactor::shared().find(&text).len(), 1, "{name}");
    }
    let samples = sets::secrets(1);
    let row = |rule: &KeyRule| {
        let starts = |text: &str| {
            let text = text.to_ascii_lowercase();
            rule.keywords.iter().any(|word| text.contains(&word.to_ascii_lowercase()))
        };
        seen.contains(rule.name) || samples.iter().any(|sample| starts(&sample.text))
    };
    let missing: Vec<_> = RULES.iter().filter(|rule| !row(rule)).map(|rule| rule.name).collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

#[test]
fn every_format_lets_a_near_miss_through() {
    // Near misses: the prefix alone, the prefix with a short rest, and the prefix inside a word.
    for (name, before, secret, after) in positives() {
        // Where a command or a file has a password, any value is one, however short.
        let is_stated = |rule: &KeyRule| {
            rule.name == name
                && matches!(
                    rule.judge,
                    MatchJudge::Told | MatchJudge::Given | MatchJudge::UrlPassword
                )
        };
        let other = !RULES.iter().any(|rule| rule.name == name);
        if other || ["private-key", "cookie"].contains(&name) || RULES.iter().any(is_stated) {
            continue;
        }
        let cut: String = secret.chars().take(5).collect();
        for text in [format!("{before}{cut}{after}"), format!("{before}{}{after}", "x".repeat(40))]
        {
            assert_eq!(Redactor::shared().redact(&text), (Cow::Borrowed(&*text), 0), "{name}");
        }
        if before.starts_with("key is") && name != "telegram" {
            let inside = format!("a{secret}");
            let places = Redactor::shared().find(&inside);
            assert!(places.iter().all(|range| range.start > 0), "{name}: {inside}");
        }
    }
}

#[test]
fn the_whole_table_compiles() {
    assert_eq!(Redactor::shared().rules.len(), RULES.len());
    assert!(Redactor::shared().rules.iter().all(|rule| rule.regex().is_some()));
}

#[test]
fn ordinary_text_stays() {
    let (hex40, hex64, b64) =
        (random_text(LOWER_HEX, 40), random_text(LOWER_HEX, 64), random_text(ALNUM, 88));
    let rows = [
        format!("commit {hex40}\nAuthor: A"),
        format!("blake3 {hex64} file.txt"),
        format!("id {} and key {}", uuid(), uuid()),
        format!("\"integrity\": \"sha512-{b64}==\","),
        format!("data:image/png;base64,iVBORw0KGgo{}", random_text(ALNUM, 4_000)),
        "token_count = 128".to_owned(),
        "max_tokens: 4096, total_tokens=123456789012".to_owned(),
        "pip install scikit-learn sk-learn sk-learn-contrib-lightning-extension".to_owned(),
        "tokenizer=o200k tokenizer: \"cl100k_base_v2_tokens\"".to_owned(),
        "/home/me/secrets/token/file_2024.txt".to_owned(),
        "password = os.environ[\"DB_PASSWORD\"]".to_owned(),
        "api_key = ${API_KEY_2}; token: <your-token-1>; secret=changeme1234567".to_owned(),
        "api_key=\"your_api_key_here_123\" token = 'xxxxxxxxxxxxxxxx1'".to_owned(),
        "self.token = request.headers.token2".to_owned(),
        "def login(password: str, token: Optional[str] = None) -> bool:".to_owned(),
        "if password == other.password: raise ValueError".to_owned(),
        "secret_name = \"prod-db-credentials-v2\"".to_owned(),
        "monkey = 'abc123def456ghi789'".to_owned(),
        "\"js-tokens\": \"^3.0.0 || ^4.0.0\"".to_owned(),
        "token_url: https://auth.example.com/oauth2/token?v=2".to_owned(),
        "https://user@example.com:8080/x and http://host:80/@scope/pkg".to_owned(),
        "git clone https://${USER}:${TOKEN}@github.com/a/b".to_owned(),
        "Authorization: Bearer $TOKEN_2024_PRODUCTION".to_owned(),
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".to_owned(),
        "the secret: never tell; password: at least 8 characters".to_owned(),
        "key-value store, key-bindings, risk-averse-users-of-the-system-2024".to_owned(),
    ];
    for text in rows {
        assert_eq!(Redactor::shared().redact(&text), (Cow::Borrowed(&*text), 0));
    }
}

/// The part of a secret that is left in the output: all of it, or the half that a wrong mask would leave.
fn left_of<'a>(secret: &'a str, out: &str) -> Option<&'a str> {
    let half = secret.ceil_char_boundary(secret.len().div_ceil(2).max(4).min(secret.len()));
    let end = secret.floor_char_boundary(secret.len() - half);
    [secret, &secret[..half], &secret[end..]].into_iter().find(|part| out.contains(part))
}

#[test]
fn no_kind_of_secret_leaks() {
    let mut leaks = std::collections::BTreeMap::new();
    for seed in [1, 2, 3, 4, 5] {
        for sample in sets::secrets(seed) {
            let text = format!("a line before\n{}\na line behind", sample.text);
            let (out, _) = Redactor::shared().redact(&text);
            if left_of(&sample.secret, &out).is_some() {
                leaks.insert(sample.kind, format!("{}\n    -> {out:?}", sample.text));
            }
            let (again, count) = Redactor::shared().redact(&out);
            assert_eq!((&*again, count), (&*out, 0), "{}", sample.kind);
        }
    }
    let all: Vec<_> = leaks.iter().map(|(kind, text)| format!("{kind}: {text}")).collect();
    assert!(all.is_empty(), "{} kinds leak:\n{}", all.len(), all.join("\n"));
}

#[test]
fn no_innocent_value_goes() {
    let mut changed = std::collections::BTreeMap::new();
    for text in sets::innocent(1_200) {
        let (out, count) = Redactor::shared().redact(&text);
        if count > 0 {
            changed.insert(out.into_owned(), text);
        }
    }
    let all: Vec<_> =
        changed.iter().map(|(out, text)| format!("{text:?}\n    -> {out:?}")).collect();
    assert!(all.is_empty(), "{} values go:\n{}", all.len(), all.join("\n"));
}

#[test]
fn several_secrets_and_truncated_blocks() {
    let key = ["gh", "p_", &random_text(ALNUM, 36)].concat();
    let text = format!("a {key} b\\n{key}, postgres://u:{key}@h");
    let (out, count) = Redactor::shared().redact(&text);
    assert_eq!(out, "a [REDACTED] b\\n[REDACTED], postgres://u:[REDACTED]@h");
    assert_eq!(count, 3);
    let cut = format!(
        "-----BEGIN {} KEY-----\n{}\n{}",
        "EC PRIVATE",
        random_text(ALNUM, 64),
        random_text(ALNUM, 20)
    );
    assert_eq!(Redactor::shared().redact(&cut).0, REPLACEMENT);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn redacting_twice_changes_nothing(
        picks in proptest::collection::vec((0..200_usize, "[ -~\n]{0,12}"), 0..8),
    ) {
        let rows = positives();
        let text: String = picks
            .iter()
            .map(|(at, noise)| match rows.get(*at) {
                Some((_, before, secret, after)) => format!("{before}{secret}{after}{noise}"),
                None => noise.clone(),
            })
            .collect();
        let (once, _) = Redactor::shared().redact(&text);
        let (twice, count) = Redactor::shared().redact(&once);
        prop_assert_eq!((&*twice, count), (&*once, 0));
    }

    #[test]
    fn long_runs_of_any_text_are_safe(
        word in "(password|token|<password|\\| password|INSERT INTO t \\(password|mysql -p|curl -u|\"password\": |api key|-----BEGIN PRIVATE KEY-----)",
        piece in "(é|密|\\PC|\n|[=:\"' ,|<>{}()-]){1,4}",
        count in 1..700_usize,
    ) {
        let text = format!("{word}{}{word}", piece.repeat(count));
        let (once, _) = Redactor::shared().redact(&text);
        let (twice, again) = Redactor::shared().redact(&once);
        prop_assert_eq!((&*twice, again), (&*once, 0));
    }

    #[test]
    fn any_text_is_safe(text in "(\\PC|[=:\"' ]|token|password|://|sk-|-----BEGIN PRIVATE KEY-----){0,60}") {
        let places = Redactor::shared().find(&text);
        for pair in places.windows(2) {
            prop_assert!(pair[0].end <= pair[1].start);
        }
        let (once, count) = Redactor::shared().redact(&text);
        prop_assert_eq!(count == 0, places.is_empty());
        let (twice, again) = Redactor::shared().redact(&once);
        prop_assert_eq!((&*twice, again), (&*once, 0));
    }
}
