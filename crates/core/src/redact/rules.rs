//! The table of secret formats: keyword, then regex, then judgement.

use super::judge::Judge;
use super::value::Place;

/// One format.
pub(super) struct Rule {
    /// What it is; for tests and people.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's own documentation"))]
    pub name: &'static str,
    /// Where to look, in any case.
    pub keywords: &'static [&'static str],
    /// Anchored at the keyword (or where [`Lead`] moves it). Classes are of ASCII alone: those of
    /// Unicode take long to compile.
    pub pattern: &'static str,
    /// Where the secret stands.
    pub place: Place,
    /// What may be before the keyword.
    pub lead: Lead,
    /// What a match has to be besides.
    pub judge: Judge,
}

/// What may be before a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// Anything.
    Any,
    /// No letter, digit or underscore: the keyword starts a word.
    Word,
    /// The keyword starts a part of a name: `db_password`, `apiToken`, but not `mytoken`.
    Part,
    /// The keyword ends a name of several parts, or starts its last one: `DB_PASS`, not `PASS`.
    Last,
    /// The keyword is in a flag: `--password`, `--db-password`.
    Flag,
    /// What is before the keyword, without white space or quotes, belongs to the match.
    Run,
    /// Digits, which belong to the secret.
    Digits,
}

/// Longest run before a keyword that belongs to the match, in bytes.
const RUN: usize = 256;

impl Lead {
    /// Where the pattern is tried for a keyword at `at`.
    pub(super) fn start(self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let before = &bytes[..at];
        let word = match before {
            [] => false,
            // An escaped line break or tab of a JSON string in a string.
            [.., b'\\', b'n' | b'r' | b't'] => false,
            _ if ends_in_colour(before) => false,
            [.., last] => last.is_ascii_alphanumeric() || *last == b'_',
        };
        let fits = match (self, before.last()) {
            (Self::Any, _) => true,
            (Self::Word, _) => !word,
            (Self::Part, Some(last)) => {
                let hump = last.is_ascii_lowercase() && bytes[at].is_ascii_uppercase();
                !word || !last.is_ascii_alphabetic() || hump
            }
            (Self::Part, None) => true,
            (Self::Last, last) => {
                let hump =
                    last.is_some_and(u8::is_ascii_lowercase) && bytes[at].is_ascii_uppercase();
                hump || matches!(last, Some(b'_' | b'-'))
            }
            (Self::Flag, _) => return in_flag(before).then_some(at),
            (Self::Run, _) => {
                let run = before.iter().rev().take_while(|b| is_of_run(**b)).take(RUN).count();
                return Some(text.ceil_char_boundary(at - run));
            }
            (Self::Digits, _) => {
                let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
                return (8..=10).contains(&digits).then(|| at - digits);
            }
        };
        fits.then_some(at)
    }
}

/// Whether a flag's name reaches up to here from its dashes.
fn in_flag(before: &[u8]) -> bool {
    let of_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let name = before.iter().rev().take(32).take_while(of_name).count();
    let (front, name) = before.split_at(before.len() - name);
    let opens = front.last().is_none_or(|b| b.is_ascii_whitespace() || b"\"'`[(,=".contains(b));
    name.starts_with(b"-") && opens && !name.ends_with(b"no-")
}

fn is_of_run(byte: u8) -> bool {
    !(byte.is_ascii_whitespace() || b"\"'`<>()[]{},;=\\".contains(&byte))
}

/// A terminal's colour sequence, real or written out: `ESC[32m`, `\u001b[0m`, `\033[1;31m`.
fn ends_in_colour(before: &[u8]) -> bool {
    let Some(rest) = before.strip_suffix(b"m") else { return false };
    let digits = rest.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    let Some(escape) = rest[..rest.len() - digits].strip_suffix(b"[") else { return false };
    [&b"\x1b"[..], b"1b", b"1B", b"\\033", b"\\e"].iter().any(|end| escape.ends_with(end))
}

/// A key whose prefix names it.
const fn key(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    judge: Judge,
) -> Rule {
    Rule { name, keywords, pattern, place: Place::Matched, lead: Lead::Word, judge }
}

/// A value that is known by what is before it.
const fn value(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    lead: Lead,
    judge: Judge,
) -> Rule {
    Rule { name, keywords, pattern, place: Place::Matched, lead, judge }
}

/// The value of a name that says what it is.
const fn assigned(name: &'static str, keywords: &'static [&'static str], judge: Judge) -> Rule {
    let place = Place::Assigned;
    Rule { name, keywords, pattern: ASSIGNED, place, lead: Lead::Part, judge }
}

/// The value of a name of one of these kinds, found in another way than by an assignment.
const fn told(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    place: Place,
    lead: Lead,
    judge: Judge,
) -> Rule {
    Rule { name, keywords, pattern, place, lead, judge }
}

use Judge::{Assigned, Block, Certain, Coded, Dense, Password, Told, UrlPassword, Wrapped};

/// Every format. Prefixes and lengths are the vendors' published ones, lengths with some room.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    key("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"^(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)", Certain),
    value("aws-pair", &["AKIA", "ASIA"], r#"^(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+\n]{1,8}([A-Za-z0-9/+]{40})(?-u:\b|$)"#, Lead::Word, Dense),
    key("aws-session", &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], r"^[IF][A-Za-z0-9]{11}[A-Za-z0-9/+=%]{60,}", Certain),
    value("aws-signature", &["x-amz-signature=", "x-goog-signature=", "x-amz-security-token="], r"^(?i-u:x-(?:amz|goog)-(?:signature|security-token))=([A-Za-z0-9%/+=_-]{40,})", Lead::Any, Certain),
    value("aws-secret", &["aws_secret", "secretaccesskey"], r#"^(?i-u:aws_secret(?:_access)?(?:_key)?|secretaccesskey)\\?["']?[ \t\r\n]{0,3}(?:=>|[:=])[ \t\r\n]{0,3}\\?["']?([A-Za-z0-9/+]{40})"#, Lead::Any, Dense),
    key("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"^gh[pousr]_[A-Za-z0-9]{30,255}", Certain),
    key("github-pat", &["github_pat_"], r"^github_pat_[A-Za-z0-9_]{40,255}", Certain),
    key("gitlab", &["glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-"], r"^gl(?:pat|dt|rt|ptt|oas|cbt)-[A-Za-z0-9_.-]{20,255}", Dense),
    key("slack", &["xox"], r"^xox[abeoprs]-[A-Za-z0-9-]{10,255}", Certain),
    key("slack-app", &["xapp-"], r"^xapp-[0-9]-[A-Z0-9]{5,}-[0-9]{5,}-[a-z0-9]{16,}", Certain),
    value("slack-webhook", &["hooks.slack.com/"], r"^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,255})", Lead::Any, Certain),
    key("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], r"^[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}", Certain),
    key("stripe-webhook", &["whsec_"], r"^whsec_[A-Za-z0-9+/=]{24,255}", Certain),
    key("openai", &["sk-"], r"^sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}", Dense),
    key("anthropic", &["sk-ant-"], r"^sk-ant-[A-Za-z0-9_-]{20,255}", Certain),
    key("openrouter", &["sk-or-"], r"^sk-or-[A-Za-z0-9-]{20,255}", Certain),
    key("google-api", &["AIza"], r"^AIza[A-Za-z0-9_-]{35}", Certain),
    key("google-oauth", &["ya29.", "GOCSPX-"], r"^(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,1024}", Certain),
    value("private-key", &["-----BEGIN "], r"^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", Lead::Any, Block),
    value("azure-storage", &["accountkey=", "sharedaccesskey="], r"^(?i-u:accountkey|sharedaccesskey)=([A-Za-z0-9+/]{40,}={0,2})", Lead::Any, Certain),
    told("azure-client", &["Q~"], r"^[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}$", Place::Around, Lead::Any, Certain),
    told("azure-key", &["JQQJ99"], r"^[A-Za-z0-9]{20,}JQQJ99[A-Za-z0-9]{20,}$", Place::Around, Lead::Any, Certain),
    value("azure-sas", &["&sig=", "?sig="], r"^[&?]sig=([A-Za-z0-9%+/]{40,}={0,2})", Lead::Any, Certain),
    key("npm", &["npm_"], r"^npm_[A-Za-z0-9]{36}", Certain),
    key("pypi", &["pypi-"], r"^pypi-[A-Za-z0-9_-]{50,}", Certain),
    key("huggingface", &["hf_"], r"^hf_[A-Za-z0-9]{30,64}", Certain),
    key("twilio", &["SK"], r"^SK[0-9a-f]{32}(?-u:\b)", Certain),
    key("sendgrid", &["SG."], r"^SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", Certain),
    key("mailgun", &["key-"], r"^key-[0-9a-f]{32}(?-u:\b)", Certain),
    value("telegram", &[":AA"], r"^[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}", Lead::Digits, Certain),
    value("discord", &["discord", "bot "], r#"^(?i:discord[^\n]{0,40}?|bot[ \t\r\n]{1,3})([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})"#, Lead::Any, Certain),
    value("discord-webhook", &["/api/webhooks/"], r"^/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{30,100})", Lead::Any, Certain),
    key("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"^do[por]_v1_[a-f0-9]{64}", Certain),
    key("heroku", &["HRKU-"], r"^HRKU-[A-Za-z0-9_-]{30,}", Certain),
    value("heroku-uuid", &["heroku"], r#"^(?i-u:heroku[A-Za-z0-9_. -]{0,24}\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?)([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"#, Lead::Any, Certain),
    key("databricks", &["dapi"], r"^dapi[0-9a-f]{32}(?:-[0-9])?(?-u:\b)", Certain),
    key("linear", &["lin_api_", "lin_oauth_"], r"^lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", Certain),
    key("notion", &["ntn_", "secret_"], r"^(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})(?-u:\b)", Dense),
    key("shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], r"^shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", Certain),
    key("jwt", &["eyJ"], r"^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", Certain),
    key("vault", &["hvs.", "hvb."], r"^hv[sb]\.[A-Za-z0-9_-]{20,300}", Dense),
    key("grafana", &["glsa_", "glc_"], r"^(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})", Certain),
    key("new-relic", &["NRAK-"], r"^NRAK-[A-Z0-9]{27}", Certain),
    key("postman", &["PMAK-"], r"^PMAK-[0-9a-f]{24}-[0-9a-f]{34}", Certain),
    key("pulumi", &["pul-"], r"^pul-[0-9a-f]{40}", Certain),
    key("rubygems", &["rubygems_"], r"^rubygems_[0-9a-f]{48}", Certain),
    key("groq", &["gsk_"], r"^gsk_[A-Za-z0-9]{40,64}", Certain),
    key("replicate", &["r8_"], r"^r8_[A-Za-z0-9]{37}", Certain),
    key("perplexity", &["pplx-"], r"^pplx-[A-Za-z0-9]{40,64}", Certain),
    key("xai", &["xai-"], r"^xai-[A-Za-z0-9]{60,100}", Certain),
    key("docker", &["dckr_pat_"], r"^dckr_pat_[A-Za-z0-9_-]{20,64}", Certain),
    key("sentry", &["sntrys_"], r"^sntrys_[A-Za-z0-9+/=_]{40,400}", Certain),
    key("atlassian", &["ATATT3"], r"^ATATT3[A-Za-z0-9_=-]{60,300}", Certain),
    key("figma", &["figd_"], r"^figd_[A-Za-z0-9_-]{36,64}", Certain),
    key("square", &["sq0", "EAAA"], r"^(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,64}|EAAA[A-Za-z0-9_-]{56,64})(?-u:\b)", Certain),
    key("vendor", &[
        "sbp_", "sb_secret_", "nfp_", "sgp_", "bkua_", "pnu_", "rdme_", "tfp_", "aio_", "CFPAT-", "CCIPAT_", "EZAK", "EZTK", "LTAI",
        "nvapi-", "tskey-", "xkeysib-", "dp.pt.", "dp.st.", "dp.ct.", "fio-u-", "FLWSECK", "dt0c01.", "shippo_live_", "shippo_test_", "ops_eyJ",
        "pat-na1-", "pat-eu1-", "AKCp", "fm2_", "fo1_", "FlyV1", "EAACEdEose0cBA", "glffct-", "glsoat-", "lsv2_", "tvly-", "phx_", "phc_", "rpa_", "CLOJARS_", "sk_org_", "cal_live_",
    ], r"^(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{24,}|nfp_[A-Za-z0-9]{36,}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}|bkua_[a-f0-9]{40}|pnu_[A-Za-z0-9]{36}|rdme_[a-z0-9]{70}|tfp_[A-Za-z0-9_.=-]{40,}|aio_[A-Za-z0-9]{28}|CFPAT-[A-Za-z0-9_-]{43}|CCIPAT_[A-Za-z0-9_]{40,}|EZ[AT]K[A-Za-z0-9]{54}|LTAI[A-Za-z0-9]{16,26}|nvapi-[A-Za-z0-9_-]{60,70}|tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|dp\.[psc]t\.[A-Za-z0-9]{40,44}|fio-u-[A-Za-z0-9_=-]{64}|FLWSECK(?:_TEST)?-[a-f0-9]{12,}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|shippo_(?:live|test)_[a-f0-9]{40}|ops_eyJ[A-Za-z0-9+/=]{250,}|pat-(?:na|eu)1-[0-9a-f-]{36}|AKCp[A-Za-z0-9]{60,72}|f(?:m2|o1)_[A-Za-z0-9+/=_-]{40,}|FlyV1 [A-Za-z0-9+/=_,-]{40,}|EAACEdEose0cBA[A-Za-z0-9]{20,}|gl(?:ffct|soat)-[A-Za-z0-9_-]{20,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|tvly-[A-Za-z0-9-]{28,}|ph[xc]_[A-Za-z0-9]{40,50}|rpa_[A-Za-z0-9]{40,50}|CLOJARS_[a-z0-9]{60}|sk_org_[A-Za-z0-9]{30,}|cal_live_[a-f0-9]{32})(?-u:\b|$)", Dense),
    told("mailchimp", &["-us"], r"^[0-9a-f]{32}-us[0-9]{1,2}$", Place::Around, Lead::Any, Certain),
    value("terraform", &[".atlasv1."], r"^\.atlasv1\.([A-Za-z0-9_-]{60,70})", Lead::Any, Certain),
    value("teams-webhook", &["/incomingwebhook/"], r"^(?i-u:/incomingwebhook)/([0-9a-f]{32}(?:/[0-9a-f-]{36})?)", Lead::Any, Certain),
    key("password-hash", &["$2a$", "$2b$", "$2y$", "$6$", "$5$", "$y$", "$argon2", "$apr1$"], r"^\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[56y]\$[./A-Za-z0-9$=]{40,}|argon2id?\$v=[0-9]+\$[a-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22})", Certain),
    key("planetscale", &["pscale_"], r"^pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,64}", Certain),
    key("age", &["AGE-SECRET-KEY-1"], r"^AGE-SECRET-KEY-1[A-Z0-9]{58}", Certain),
    value("authorization", &["authorization"], r#"^(?i-u:authorization\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?(?:basic|bearer|token|bot|apikey|key|ssws|genielogin|negotiate)[ \t\r\n]{1,3})([A-Za-z0-9._~+/=:-]{8,})"#, Lead::Any, Password),
    value("basic", &["basic "], r"^(?i-u:basic)[ \t]{1,3}([A-Za-z0-9+/_-]{8,}={0,2})", Lead::Word, Coded),
    value("auth-pair", &["auth\"", "auth\\\"", "_auth", "auth\\\\\""], r#"^_?auth\\{0,3}"?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\{0,3}"?([A-Za-z0-9+/_-]{8,}={0,2})"#, Lead::Any, Coded),
    value("auth-tuple", &["auth=(", "auth = (", "basicauth(", "basic_auth("], r#"^(?i-u:(?:basic_?)?auth(?: ?= ?)?\()[ ]?\\{0,3}["'][^"'\\\n]{1,64}\\{0,3}["'],[ ]?\\{0,3}["']([^"'\\\n]{4,256})"#, Lead::Any, Told),
    value("cookie", &["cookie"], r#"^(?i-u:cookie)\\{0,3}["']?[ ]?[:=][ ]?\\{0,3}["']?([^=;\s"'\\]{1,64}=[^\r\n"'\\]{12,4096})"#, Lead::Any, Dense),
    value("netrc", &["login "], r#"^(?i-u:login)[ \t]+[^\s"']{1,64}[ \t\r\n]+password[ \t]+([^\s"'\\]{4,256})"#, Lead::Word, Told),
    value("pgpass", &[":5432:", ":3306:"], r#"^:(?:5432|3306):[^:\s"']{1,64}:[^:\s"']{1,64}:([^\s"'\\]{4,256})"#, Lead::Any, Told),
    value("element", &["<password>", "<passwd>", "<token>", "<secret>", "<apikey>", "<api_key>", "<secretkey>", "<accesstoken>"], r"^<[A-Za-z_]+>([^<\s]{6,256})<", Lead::Any, Told),
    value("docker-env", &["env "], r#"^(?i-u:env) (?:[A-Z0-9]+_)*(?:PASSWORD|PASS|TOKEN|SECRET|KEY)(?:_[A-Z0-9]+)* ([^\s"'=\\]{6,256})"#, Lead::Word, Password),
    value("passin", &["pass:"], r#"^pass:([^\s"'\\]{6,256})"#, Lead::Word, Password),
    value("npm-auth", &["_authtoken"], r#"^(?i-u:_authtoken)[ =:]{1,3}\\{0,3}["']?([^\s"'\\]{10,512})"#, Lead::Any, Told),
    value("oracle-pair", &["jdbc:oracle:thin:"], r#"^jdbc:oracle:thin:[^/\s"']{1,64}/([^@\s"']{1,128})@"#, Lead::Any, UrlPassword),
    told("dsn-pair", &["@tcp(", "@unix("], r"^[^:@/\s]{1,64}:([^\s]{1,190})@(?:tcp|unix)\(", Place::Matched, Lead::Run, UrlPassword),
    value("url-key", &["://"], r"^://([A-Za-z0-9_-]{20,256})@", Lead::Any, Dense),
    told("curl-user", &["curl", "wget", "httpie"], "^", Place::PairFlag, Lead::Word, UrlPassword),
    told("mysql-flag", &["mysql", "mysqldump", "mysqladmin", "mariadb"], "^", Place::Flag("-p"), Lead::Word, Told),
    told("login-flag", &["docker login", "podman login", "helm registry login", "sshpass", "oc login"], "^", Place::Flag("-p "), Lead::Word, Told),
    told("redis-flag", &["redis-cli"], "^", Place::Flag("-a "), Lead::Word, Told),
    told("ldap-flag", &["ldapsearch", "ldapadd", "ldapmodify"], "^", Place::Flag("-w "), Lead::Word, Told),
    told("flag", &["password", "passwd", "passphrase", "pass", "pwd"], FLAG, Place::Assigned, Lead::Flag, Told),
    told("flag-token", &["token", "api-key", "apikey", "api_key", "secret", "secret-key", "access-key", "auth-key", "authkey"], FLAG, Place::Assigned, Lead::Flag, Assigned),
    told("wrapped", &[
        "cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ", "cGFzc3dk", "Bhc3N3Z", "wYXNzd2", "c2VjcmV0", "NlY3Jld", "zZWNyZX", "UEFTU1dPUk", "BBU1NXT1JE", "QQVNTV09SR",
        "dG9rZW", "Rva2Vu", "0b2tlb", "YXBpX2tle", "FwaV9rZX", "hcGlfa2V5", "LS0tLS1CRUdJT", "X0tFW", "9LRV", "fS0VZP", "U0VDUkVU", "NFQ1JFV", "TRUNSRV", "VE9LRU", "RPS0VO", "UT0tFT",
        "QUtJQ", "Z2hwX", "docF", "naHBf", "Oi8v", "c2stY", "c2stc",
    ], "^", Place::Base64, Lead::Any, Wrapped),
    value("bearer", &["bearer "], r"^(?i-u:bearer)[ \t\r\n]{1,3}([A-Za-z0-9._~+/=-]{16,})", Lead::Word, Dense),
    Rule { name: "url-password", keywords: &["://"], pattern: "^://", place: Place::UrlPassword, lead: Lead::Any, judge: UrlPassword },
    told("password", &["password", "passwd", "passphrase"], ASSIGNED, Place::Assigned, Lead::Any, Password),
    told("password", &["pwd"], ASSIGNED, Place::Assigned, Lead::Part, Password),
    told("pass", &["pass", "pw", "psw"], SHORT, Place::Assigned, Lead::Last, Password),
    told("pass", &["pat", "app_key", "license_key", "fernet_key", "admin_key", "jwt_key", "service_key"], SHORT, Place::Assigned, Lead::Last, Assigned),
    assigned("assigned", &[
        "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "privatekey",
        "encryption_key", "encryptionkey", "signing_key", "auth_key", "authkey", "master_key", "account_key",
        "subscription-key", "subscription_key", "storage_key", "secret", "token", "authtoken", "identitytoken", "registrytoken",
        "credential",
    ], Assigned),
];

/// From a keyword inside a name up to the value: the rest of the name (a new part of it: `_id`,
/// `Id`, `s`), the name's quote, the separator, or the member or line that holds the value. Quotes
/// may be escaped.
const ASSIGNED: &str = r#"^(?-u:(?i:api[_-]?key|(?:access|private|encryption|signing|auth|master|account|subscription|storage)[_-]?key|password|passwd|passphrase|pwd|secret|authtoken|identitytoken|registrytoken|token|credential)s?(?:[_-][A-Za-z0-9_-]{0,32}|[A-Z][A-Za-z0-9_]{0,32})?\\{0,3}["'`]?[\])]?(?:[ \t]{0,8}(?:=>|:=|={1,2}|:)[ \t]{0,8}| (?:is|was)(?: now)?:? |,?[ \t\r\n]{1,32}-?[ ]?value[=:][ ]?|,[ \t\r\n]{0,32}\\{0,3}["']value\\{0,3}["'][ ]?:[ ]?))"#;
/// The same for words that make a name secret only where they end it.
const SHORT: &str = r#"^(?-u:(?i:pass|pw|psw|pat|app_key|license_key|fernet_key|admin_key|jwt_key|service_key)\\{0,3}["'`]?[\])]?[ \t]{0,8}(?:=>|:=|={1,2}|:)[ \t]{0,8})"#;
/// The same for a flag of a command, also where its words are in a list.
const FLAG: &str = r#"^(?-u:(?i:password|passwd|passphrase|pass|pwd|token|api[_-]?key|secret(?:-key)?|access-key|auth-?key)(?:[ \t]{1,4}|\\{0,3}["'],[ \t\r\n]{0,16}|=))"#;
