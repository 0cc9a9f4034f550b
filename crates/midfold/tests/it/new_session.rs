//! What a start leaves in the store where it fails half-way.

use std::sync::Arc;

use midfold::blocking::{Start, StorePlace};
use midfold::store::MemoryStore;
use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::{Door, DoorHost, Policy};

#[test]
fn a_new_session_without_its_first_messages_leaves_its_id_free() {
    for failure in [WriteFailure::Before, WriteFailure::After] {
        // The first write makes the session, the second one appends its system prompt.
        let store = FaultyStore::new(Arc::new(MemoryStore::new()), failure, 1..2);
        let place = StorePlace::over(Arc::new(store), Door::Command).unwrap();
        let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
        let start = Start {
            system: Some(br#""Be brief.""#.as_slice().into()),
            ..Start::new(Policy::preset("default").unwrap(), host, || 0)
        };
        let failed = start.clone().open_in("s".to_owned(), Some(place.clone()));
        let failed = failed.err().unwrap().to_string();
        assert!(failed.contains("disk is full"), "{failed}");
        let session = start.open_in("s".to_owned(), Some(place)).unwrap();
        assert_eq!(session.len(), 1, "{failure:?}");
    }
}
