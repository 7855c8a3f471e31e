"""Everything at once: backups, restoring them, moving to another database, checking it all."""
