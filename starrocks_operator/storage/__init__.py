"""Storage: what may not happen to the volumes of a component while its objects are applied."""

from starrocks_operator.storage.guard import LOSS_CONSENT, Scene, guarded, stateful_sets, template_changes

__all__ = ["LOSS_CONSENT", "Scene", "guarded", "stateful_sets", "template_changes"]
