# frozen_string_literal: true

require_relative "command_line"
require_relative "control_command"
require_relative "option_help"

module Bontebok
  # The output of `bontebok completion bash` and `bontebok completion zsh`: a script that completes commands, flags and
  # values, also after `bundle exec`. File names are completed where nothing else is known.
  module Completion
    SHELLS = %w[bash zsh].freeze
    # bashcompinit needs compinit, which many ~/.zshrc call already. -D: no file is written; -i: nothing is asked.
    ZSH = "(( $+functions[compdef] )) || { autoload -U compinit && compinit -D -i }\n" \
          "autoload -U +X bashcompinit && bashcompinit\n"
    # Succeeds if the shell completes `bundle` already: ours does not replace it. zsh's own calls ours.
    BUNDLE = { "bash" => "complete -p bundle >/dev/null 2>&1", "zsh" => "(( $+_comps[bundle] ))" }.freeze
    # Values of options that also accept other values.
    VALUES = { max_workers: %w[auto], environment: %w[development test production],
               access_log_format: %w[common combined ltsv json] }.freeze

    class << self
      # Raises UsageError.
      def script(shell)
        raise UsageError, "bontebok completion wants bash or zsh" unless SHELLS.include?(shell)

        "#{ZSH if shell == 'zsh'}#{function}#{BUNDLE[shell]} || complete -o default -F _bontebok_bundle bundle\n"
      end

      private

      # bash splits --flag=value into three words; zsh does not, nor does a bash without = in COMP_WORDBREAKS.
      def function
        <<~SHELL
          _bontebok() {
            local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} prefix= words
            case $word:$flag in
            --*=*) flag=${word%%=*} word=${word#*=} prefix=$flag= ;;
            =:*) word= ;;
            *:=) flag=${COMP_WORDS[COMP_CWORD-2]} ;;
            esac
            case $flag in
          #{values}
            *) case $COMP_CWORD:${COMP_WORDS[1]} in
              1:*) words="#{[*commands, *CommandLine.flags].join(' ')}" ;;
          #{cases}
              *) words="#{CommandLine.flags.join(' ')}" ;;
              esac
              case $prefix$COMP_CWORD:$word in
              1:*|[0-9]*:-*) ;;
              *) words= ;;
              esac ;;
            esac
            COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$word"))
          }
          _bontebok_bundle() {
            COMPREPLY=()
            case $COMP_CWORD:${COMP_WORDS[1]}:${COMP_WORDS[2]} in
            2:exec:*) COMPREPLY=($(compgen -c -- "${COMP_WORDS[2]}")) ;;
            *:exec:bontebok)
              COMP_WORDS=("${COMP_WORDS[@]:2}")
              COMP_CWORD=$((COMP_CWORD - 2))
              _bontebok ;;
            esac
          }
          complete -o default -F _bontebok bontebok
        SHELL
      end

      def commands = [*ControlCommand::COMMANDS.keys, "bench", "completion"]

      # The word after a flag that wants a value.
      def values
        rows = OptionTable::ALL.reject(&:switch?).map do |option|
          "  #{spellings(option).join('|')}) words=\"#{words(option).join(' ')}\" ;;"
        end
        topics = [OptionHelp::ALL, *ControlCommand::COMMANDS.keys, *OptionTable::ALL.map(&:name)]
        rows << "  --format) words=\"#{ControlCommand::FORMATS.join(' ')}\" ;;"
        [*rows, "  --help|-h) words=\"#{topics.uniq.join(' ')}\" ;;"].join("\n")
      end

      def spellings(option)
        foreign = CommandLine::FOREIGN.select { |_, key| key == option.key }.keys
        [*option.flags, *("-#{option.short}" if option.short), *foreign]
      end

      def words(option)
        option.type.is_a?(OptionTypes::Choice) ? option.type.words : VALUES.fetch(option.key, [])
      end

      # The word after the name of a command: its own flags, and those that find the server.
      def cases
        own = ControlCommand::COMMANDS.map do |command, known|
          words = [*known.keys, "--control", "--config-file", "--directory", "--help"]
          "    *:#{command}) words=\"#{words.join(' ')}\" ;;"
        end
        shells = "COMPREPLY=($(compgen -W \"#{SHELLS.join(' ')}\" -- \"$word\"))"
        [*own, "    *:completion) #{shells}; return ;;"].join("\n")
      end
    end
  end
end
