//! The summariser client: executes the engine's requests over HTTP, and never lets a failure
//! become anybody's wait.
