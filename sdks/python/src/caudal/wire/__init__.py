"""Generated from ``sdks/proto``; ``sdks/README.md`` says how."""
