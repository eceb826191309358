"""Programs that measure filemem; docs/benchmarks.md has what they printed."""
