"""snap completion: shell completion."""

from __future__ import annotations

import click

from . import arguments


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL for the name that was called.

    \b
    bash: snap completion bash > ~/.local/share/bash-completion/completions/snap
    zsh:  snap completion zsh > "${fpath[1]}/_snap"
    fish: snap completion fish > ~/.config/fish/completions/snap.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:  # pragma: no cover - click knows the three shells of the Choice
        raise click.UsageError(f"no completion for {shell}")
    name = arguments.program()
    if " " in name:
        raise click.UsageError("a shell completes commands: call this as snap or hostsnap")
    variable = f"_{name.replace('-', '_').replace('.', '_').upper()}_COMPLETE"
    click.echo(found(ctx.find_root().command, {}, name, variable).source())
