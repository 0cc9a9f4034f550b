//! The surroundings that a client finds when it starts: folders, variables and arguments.

use std::path::PathBuf;

/// The surroundings that a client looks at when it starts.
pub struct ClientSurroundings<'a> {
    pub home: Option<PathBuf>,
    pub folder: PathBuf,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The client's own arguments.
    pub arguments: Vec<String>,
}

impl ClientSurroundings<'_> {
    pub fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// The folder that a variable names. Without the variable, the folder `usual` in the user's home; `None` where
    /// there is no home.
    pub fn folder_of(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from);
        named.or_else(|| self.home.as_ref().map(|home| home.join(usual)))
    }

    /// The value of an option, written as `--name VALUE` or `--name=VALUE`.
    pub fn option(&self, names: &[&str]) -> Option<&str> {
        let mut rest = self.arguments.iter();
        while let Some(argument) = rest.next() {
            if names.contains(&argument.as_str()) {
                return rest.next().map(String::as_str);
            }
            let joined = argument.split_once('=').filter(|(name, _)| names.contains(name));
            if let Some((_, value)) = joined {
                return Some(value);
            }
        }
        None
    }
}
