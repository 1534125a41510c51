# frozen_string_literal: true

require_relative "command_line"
require_relative "control_command"

module Bontebok
  # The output of `bontebok completion bash` and `bontebok completion zsh`: a script that completes commands and flags.
  # File names are completed where nothing else is known.
  module Completion
    SHELLS = %w[bash zsh].freeze
    # bashcompinit needs compinit, which many ~/.zshrc call already. -D: no file is written; -i: nothing is asked.
    ZSH = "(( $+functions[compdef] )) || { autoload -U compinit && compinit -D -i }\n" \
          "autoload -U +X bashcompinit && bashcompinit\n"

    class << self
      # Raises UsageError.
      def script(shell)
        raise UsageError, "bontebok completion wants bash or zsh" unless SHELLS.include?(shell)

        (shell == "zsh" ? ZSH : "") + function
      end

      private

      def function
        <<~SHELL
          _bontebok() {
            local word=${COMP_WORDS[COMP_CWORD]} words
            case $COMP_CWORD:${COMP_WORDS[1]} in
          #{cases}
            1:*) words="#{[*commands, *flags].join(' ')}" ;;
            *) words="#{flags.join(' ')}" ;;
            esac
            case $COMP_CWORD:$word in
            1:*|*:-*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
            *) COMPREPLY=() ;;
            esac
          }
          complete -o default -F _bontebok bontebok
        SHELL
      end

      def commands = [*ControlCommand::COMMANDS.keys, "bench", "completion"]

      def flags
        OptionTable::BY_FLAG.keys + CommandLine::ACTIONS.keys.grep(/\A--/)
      end

      # The word after the name of a command: its own flags, and those that find the server.
      def cases
        own = ControlCommand::COMMANDS.map do |command, known|
          words = [*known.keys, "--control", "--config-file", "--directory", "--help"]
          "  [!1]*:#{command}) words=\"#{words.join(' ')}\" ;;"
        end
        shells = "COMPREPLY=($(compgen -W \"#{SHELLS.join(' ')}\" -- \"$word\"))"
        [*own, "  [!1]*:completion) #{shells}; return ;;"].join("\n")
      end
    end
  end
end
