"""What the scripts of the Python frameworks share: conversations whose folds are measured."""

from host import timed


class Timed:
    """`midfold.Sessions` whose `project` is measured; an adapter takes it as `sessions`."""

    def __init__(self, **settings):
        import midfold

        self.sessions = midfold.Sessions(**settings)
        self.find = self.sessions.find
        self.project = timed(self.sessions.project, lambda context: context.folded)
