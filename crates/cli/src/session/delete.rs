//! `midfold session delete`: deletes sessions, or without `--yes` shows what would be deleted.

use midfold::Door;
use midfold_args::DeleteArgs;

use crate::deletion::tell;
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::output::Output;

pub async fn run(
    args: &DeleteArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let store = &*host.store;
    let sessions = match args.yes {
        true => midfold::delete(store, &args.ids, Door::Command).await?,
        false => midfold::extents(store, &args.ids, Door::Command).await?,
    };
    tell((&sessions, 0), args.yes, &store.place(), json, output)
}
