"""Stand-in for SkyRL, which trains nothing and misbehaves as the variable FAKE_SKYRL says."""
