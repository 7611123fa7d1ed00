"""Generated from ``sdks/proto`` (see CONTRIBUTING.md)."""
