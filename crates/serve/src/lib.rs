//! midfold over HTTP: a transparent proxy that folds what does not fit.
