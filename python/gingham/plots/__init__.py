"""Pictures of results, drawn without a screen."""
