//! Secrets of every kind that logs hold, made by their shape and never real; and values that look like secrets but are
//! not.

use crate::Rng;

/// A secret and the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedSecret {
    /// The kind of secret.
    pub kind: &'static str,
    /// The secret.
    pub secret: String,
    /// The secret with the text around it, on one line unless it is a block of a key.
    pub text: String,
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Random characters of an alphabet. Longer texts have both digits and letters.
fn random_text(rng: &mut Rng, alphabet: &str, len: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut out: String = (0..len).map(|_| letters[rng.below(letters.len())]).collect();
    // Real secrets of this length have digits and letters. Chance could leave one of them out, so they are put in.
    if alphabet != UPPER && len >= 6 {
        out.replace_range(1..4, "7a4");
    }
    out
}

/// The base64 of a text.
fn base64(text: &str) -> String {
    let letters = BASE64.as_bytes();
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for at in 0..4 {
            let letter = letters[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

fn uuid(rng: &mut Rng) -> String {
    let hex = random_text(rng, HEX, 32);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// One secret of each kind. Another `seed` gives other secrets.
#[must_use]
pub fn planted(seed: u64) -> Vec<PlantedSecret> {
    let mut rng = Rng::new(seed);
    let mut out = keys(&mut rng);
    out.extend(assigned(&mut rng));
    out.extend(labelled(&mut rng));
    out
}

/// Keys that are recognised by their form. Their prefixes are split in this source, so that no scanner takes one for a
/// real key.
fn keys(rng: &mut Rng) -> Vec<PlantedSecret> {
    let mut an = |n| random_text(rng, ALNUM, n);
    let rows: Vec<(&'static str, [&str; 2], String)> = vec![
        ("github", ["gh", "p_"], an(36)),
        ("github-app", ["gh", "s_"], an(36)),
        ("github-pat", ["github", "_pat_"], an(82)),
        ("gitlab", ["glp", "at-"], an(20)),
        ("openai", ["s", "k-proj-"], an(48)),
        ("anthropic", ["sk-", "ant-api03-"], an(93)),
        ("slack", ["xo", "xb-"], an(40)),
        ("stripe", ["sk_", "live_"], an(24)),
        ("google-api", ["AI", "za"], an(35)),
        ("google-oauth", ["ya", "29."], an(60)),
        ("npm", ["np", "m_"], an(36)),
        ("pypi", ["py", "pi-"], an(80)),
        ("huggingface", ["h", "f_"], an(34)),
        ("jwt", ["ey", "J"], format!("{}.eyJ{}.{}", an(30), an(60), an(43))),
        ("vault", ["hv", "s."], an(24)),
        ("sendgrid", ["S", "G."], format!("{}.{}", an(22), an(43))),
        ("groq", ["gs", "k_"], an(52)),
        ("docker-pat", ["dckr", "_pat_"], an(27)),
        ("square", ["sq0", "atp-"], an(22)),
        ("square-app", ["sq0", "csp-"], an(43)),
        ("square-token", ["EA", "AA"], an(60)),
        ("netlify", ["nf", "p_"], an(40)),
        ("nvidia", ["nv", "api-"], an(64)),
        ("alibaba", ["LT", "AI"], an(20)),
        ("aws-session", ["IQoJb3", "JpZ2lu"], an(400)),
        ("terraform", ["ab12CD34ef56GH", ".atlasv1."], an(67)),
    ];
    let mut out: Vec<PlantedSecret> = rows
        .into_iter()
        .map(|(kind, [start, end], rest)| {
            let whole = format!("{start}{end}{rest}");
            let secret = if kind == "terraform" { rest } else { whole.clone() };
            PlantedSecret { kind, secret, text: format!("KEY_OF_APP={whole}") }
        })
        .collect();
    let hex = |rng: &mut Rng, n| random_text(rng, HEX, n);
    let access = ["AK", "IA"].concat() + &random_text(rng, UPPER, 16);
    let aws = random_text(rng, BASE64, 40);
    let mut add = |kind, secret: &str, text: String| {
        out.push(PlantedSecret { kind, secret: secret.to_owned(), text });
    };
    add("aws-access-key", &access, format!("aws key {access}"));
    add("aws-pair", &aws, format!("{access},{aws}"));
    let mailchimp = hex(rng, 32) + "-us12";
    add("mailchimp", &mailchimp, format!("mailchimp is {mailchimp}"));
    let azure = format!("{}8Q~{}", random_text(rng, ALNUM, 3), random_text(rng, ALNUM, 34));
    add("azure-client", &azure, format!("client of the app: {azure}"));
    let shopify = ["shp", "at_"].concat() + &hex(rng, 32);
    add("shopify", &shopify, format!("shop {shopify}"));
    let digital = ["dop", "_v1_"].concat() + &hex(rng, 64);
    add("digitalocean", &digital, format!("do {digital}"));
    let coloured = ["gh", "p_"].concat() + &random_text(rng, ALNUM, 36);
    add("after-a-colour", &coloured, format!("\u{1b}[32m{coloured}\u{1b}[0m"));
    let body = random_text(rng, BASE64, 64) + "\n" + &random_text(rng, BASE64, 64);
    let block = format!("-----BEGIN {0} KEY-----\n{body}\n-----END {0} KEY-----", "RSA PRIVATE");
    add("private-key", &body, block.clone());
    let wrapped = base64(&block);
    add("wrapped-key", &wrapped, format!("client-key-data: {wrapped}"));
    let pair = base64(&format!("DB_PASSWORD={}\n", random_text(rng, ALNUM, 16)));
    add("wrapped-pair", &pair, format!("echo {pair} | base64 -d"));
    out
}

/// Secrets that are recognised by the name before them.
fn assigned(rng: &mut Rng) -> Vec<PlantedSecret> {
    let mut an = |n| random_text(rng, ALNUM, n);
    let rows: Vec<(&'static str, &str, String, &str)> = vec![
        ("env-password", "DB_PASSWORD=", an(14), ""),
        ("pgpassword", "PGPASSWORD=", an(12), " psql -h db"),
        ("mysql-pwd", "MYSQL_PWD=", an(12), ""),
        ("env-pass", "SMTP_PASS=", an(14), ""),
        ("yaml-password", "password: ", an(12), ""),
        ("json-password", "\"password\": \"", an(12), "\","),
        ("code-password", "conn.password = '", an(12), "'"),
        ("marked-password", "export ADMIN_PASSWORD='", format!("{}!#", an(10)), "'"),
        ("aws-secret", "aws_secret_access_key = ", an(40), ""),
        ("aws-secret-json", "\"SecretAccessKey\": \"", an(40), "\""),
        ("aws-session-name", "AWS_SESSION_TOKEN=", an(700), ""),
        ("api-key", "api_key: ", an(32), ""),
        ("client-secret", "\"client_secret\": \"", an(40), "\","),
        ("jwt-secret", "JWT_SECRET=", an(32), ""),
        ("env-token", "CI_DEPLOY_TOKEN=", an(24), ""),
        ("camel-token", "const apiToken = '", an(24), "';"),
        ("named-value", "{\"name\": \"DB_PASSWORD\", \"value\": \"", an(14), "\"}"),
        ("azure-storage", "DefaultEndpointsProtocol=https;AccountKey=", an(86) + "==", ";End"),
        ("azure-secret", "AZURE_CLIENT_SECRET=", an(37), ""),
        ("ado", "Server=db;User Id=sa;Password=", an(14), ";Encrypt=yes"),
        ("npm-auth", "//registry.npmjs.org/:_authToken=", an(32), ""),
        ("npm-pair", "_auth=", base64(&format!("ci:{}", an(14))), ""),
        ("docker-auth", "\"auth\": \"", base64(&format!("ci:{}", an(14))), "\""),
        ("registry", "\"identitytoken\": \"", an(48), "\""),
        ("xml", "<password>", an(12), "</password>"),
        ("properties", "spring.datasource.password=", an(14), ""),
        ("prose", "the password is ", an(12), " for now"),
        ("docker-env", "ENV API_TOKEN ", an(24), ""),
        ("pat", "GITHUB_PAT=", an(40), ""),
    ];
    rows.into_iter()
        .map(|(kind, before, secret, after)| {
            let text = format!("{before}{secret}{after}");
            PlantedSecret { kind, secret, text }
        })
        .collect()
}

/// Secrets in commands, headers and URLs.
fn labelled(rng: &mut Rng) -> Vec<PlantedSecret> {
    let mut an = |n| random_text(rng, ALNUM, n);
    let rows: Vec<(&'static str, &str, String, &str)> = vec![
        ("flag-password", "tool --password ", an(12), " --now"),
        ("flag-equals", "tool --db-password=", an(12), " --now"),
        ("flag-token", "tool login --token ", an(24), " --now"),
        ("curl-user", "curl -s -u admin:", an(12), " https://api.acme.io/v1"),
        ("curl-long", "curl --user deploy:", an(12), " https://api.acme.io/v1"),
        ("mysql-flag", "mysql -uroot -p", an(12), " shop"),
        ("sshpass", "sshpass -p ", an(12), " ssh box"),
        ("docker-login", "docker login -u ci -p ", an(16), " reg.acme.io"),
        ("redis-flag", "redis-cli -a ", an(14), " ping"),
        ("bearer", "Authorization: Bearer ", an(40), ""),
        ("basic", "Authorization: Basic ", base64(&format!("ci:{}", an(14))), ""),
        ("api-header", "X-Api-Key: ", an(32), ""),
        ("cookie", "Cookie: session=", an(32), ""),
        ("url", "postgres://app:", an(12), "@db-prod-1:5432/orders"),
        ("url-slash", "postgres://app:", format!("{}/{}", an(6), an(6)), "@db-prod-1:5432/orders"),
        ("url-at", "amqp://app:", format!("{}@{}", an(6), an(6)), "@mq:5672/orders"),
        ("redis-url", "redis://:", an(12), "@cache:6379/0"),
        ("git-url", "https://oauth2:", an(24), "@git.acme.io/app.git"),
        ("url-token", "https://", an(40), "@git.acme.io/app.git"),
        ("query", "https://api.acme.io/v1?access_token=", an(32), "&page=2"),
        ("sas", "https://x.blob.core.windows.net/c?sv=2022&sig=", an(43) + "%3D", "&se=1"),
        ("dsn", "app:", an(12), "@tcp(db:3306)/orders"),
        ("pgpass", "db:5432:orders:app:", an(12), ""),
        ("netrc", "machine acme login ci password ", an(12), ""),
    ];
    rows.into_iter()
        .map(|(kind, before, secret, after)| {
            let text = format!("{before}{secret}{after}");
            PlantedSecret { kind, secret, text }
        })
        .collect()
}

/// `count` values that are not secrets, as they are in logs: hashes, ids, digests, images, paths, versions, names,
/// code.
#[must_use]
pub fn innocent(count: usize) -> Vec<String> {
    let mut rng = Rng::new(7);
    (0..count).map(|at| one_innocent(at, &mut rng)).collect()
}

fn one_innocent(at: usize, rng: &mut Rng) -> String {
    let hex = |rng: &mut Rng, n| random_text(rng, HEX, n);
    match at % 25 {
        0 => format!("commit {}", hex(rng, 40)),
        1 => format!("{} src/lib_{at}.rs", hex(rng, 64)),
        2 => format!("request id {}", uuid(rng)),
        3 => format!("\"session_id\": \"{}\"", uuid(rng)),
        4 => format!("image@sha256:{}", hex(rng, 64)),
        5 => format!("\"integrity\": \"sha512-{}==\"", random_text(rng, BASE64, 86)),
        6 => format!("data:image/png;base64,iVBORw0KGgo{}", random_text(rng, BASE64, 600)),
        7 => format!("/home/me/{}/secrets/token_{at}.txt", random_text(rng, ALNUM, 12)),
        8 => format!("max_tokens: {}, token_count={at}", rng.below(99_999)),
        9 => format!("crates/tokens/src/model_{at}.rs:{}", rng.below(900)),
        10 => format!("v{}.{}.{at}-rc.1+build.{}", rng.below(9), rng.below(99), hex(rng, 8)),
        11 => format!("fn parse_token_{at}(token: &str) -> Option<Token{at}> {{"),
        12 => format!("password = os.environ[\"DB_PASSWORD_{at}\"]"),
        13 => format!("api_key = ${{API_KEY_{at}}}"),
        14 => format!("https://host-{at}.acme.io:8080/@scope/pkg/v{at}"),
        15 => format!("git clone git@github.com:acme/repo-{at}.git && sort -u list_{at}"),
        16 => format!("index {}..{} 100644", hex(rng, 7), hex(rng, 7)),
        17 => format!("arn:aws:secretsmanager:eu-west-1:123456789012:secret:app-{at}"),
        18 => format!("ETag: \"{}\"", hex(rng, 32)),
        19 => format!("trace_id={} span_id={}", hex(rng, 32), hex(rng, 16)),
        20 => format!("tool --password-file /run/p{at} --token-limit 4{at} --no-password"),
        21 => format!("self.token_{at} = tokenizer.next_token{at}(secret_name)"),
        22 => format!("PASS: TestLogin{at} (0.0{}s) basic auth works", at % 9),
        23 => format!("bearer of news {at}: mysql --port 3306 --user app_{at}"),
        _ => format!("2026-11-2{}T10:00:00Z user_{at} cookie: set, authorization: none", at % 10),
    }
}
