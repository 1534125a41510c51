# frozen_string_literal: true

require_relative "../config/option_table"

module Bontebok
  # The output of --help: the options that people set, all options, those that have to do with a word, or one of them.
  # Used by CLI.
  module OptionHelp
    USAGE = <<~TEXT
      Usage: bontebok [-l ADDR]... [-p PORT] [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
             bontebok deploy|rollback|stop|reopen|restart-workers|workers|drain|resume|status|top
             (bontebok COMMAND --help)
             bontebok bench [options] URL    (bontebok bench --help)
             bontebok completion bash|zsh
    TEXT

    # The options that people set, by task.
    TASKS = {
      "Start" => %i[listen environment config_file directory user pidfile],
      "Workers" => %i[max_workers threads preload max_request_per_child max_worker_memory],
      "Deploys and stops" => %i[health_paths ready_path drain_delay graceful_timeout],
      "Slow requests and overload" => %i[request_timeout worker_timeout queue_timeout max_body],
      "Logs" => %i[log log_format access_log]
    }.freeze

    PORT = ["-p, --port PORT", "Port to listen on, on all addresses: as -l '*:PORT'"].freeze

    OTHERS = [["    --check", "Print the value of every option and where it comes from"],
              ["-h, --help [all|WORD]", "Print this page, all options, or those with this word"],
              ["-v, --version", "Print the version"]].freeze

    # rackup has loaded the application before it knows these options (HandlerOptions).
    PAST = %i[preload rackup directory environment].freeze

    # The word for the list of all options.
    ALL = "all"

    # Width of the flags in a list of options, in columns.
    NAME_WIDTH = 35

    class << self
      # Returns the meaning of a word: ALL, an Option if the word names it, or the options with the word in their
      # names or texts. nil: nothing.
      def find(word)
        return ALL if word == ALL

        OptionTable.find(word) || OptionTable.find("--#{word}") || with(word)
      end

      # topic: a result of #find; nil: the first page.
      def of(topic)
        case topic
        when Option then page(topic)
        when Array then "#{list(topic)}\nbontebok --help OPTION describes one option.\n"
        when ALL then everything
        else first_page
        end
      end

      private

      # Only if no name and no summary has the word, the whole texts are searched.
      def with(word)
        [->(option) { "#{option.spellings.join(' ')} #{option.summary}" }, :help.to_proc].each do |text|
          found = OptionTable::ALL.select { |option| text.call(option).downcase.include?(word.downcase) }
          return found if found.any?
        end
        nil
      end

      def first_page
        "#{USAGE}\n#{sections(TASKS.transform_values { |keys| keys.map { |key| OptionTable[key] } })}\n" \
          "bontebok --help all lists all #{OptionTable::ALL.size} options, and bontebok --help OPTION describes one.\n"
      end

      def everything
        "#{USAGE}\n#{sections(OptionTable.sections)}\nbontebok --help OPTION describes one option.\n"
      end

      def sections(titled)
        lists = titled.map { |title, options| "#{title}\n#{list(options)}" }
        others = OTHERS.map { |flags, text| line(flags, text) }
        "#{lists.join("\n")}\nOther\n#{others.join}"
      end

      def list(options)
        options.flat_map do |option|
          [line(list_flags(option), "#{option.summary} [#{option.default_text}]"),
           *(line(*PORT) if option.key == :listen)]
        end.join
      end

      def list_flags(option)
        short = option.short ? "-#{option.short}, " : "    "
        [short + shown(option, option.flag), *option.type.metavar].join(" ")
      end

      def line(flags, text)
        "  #{flags.ljust(NAME_WIDTH)} #{text}\n"
      end

      def page(option)
        rackup = "-O #{option.rackup_name}=#{option.type.metavar || 'true'}" unless PAST.include?(option.key)
        rows = [["Default", option.default_text],
                ["Command line", page_flags(option)],
                ["Environment", option.environment_variables.join(", else ")],
                ["Configuration file", (option.all_keys.join(", ") if option.in_file?)],
                ["rackup", rackup]]
        rows = rows.map { |title, text| "#{title.ljust(18)}  #{text.to_s.empty? ? 'none' : text}\n" }
        "#{option.name}\n\n#{wrapped(option.help)}\n#{rows.join}"
      end

      def page_flags(option)
        flags = option.flags.map { |flag| shown(option, flag) }
        flags = [[*("-#{option.short}" if option.short), *flags].join(", "), *option.type.metavar].join(" ")
        option.key == :listen ? "#{flags}; #{PORT.first}" : flags
      end

      def shown(option, flag)
        option.switch? ? flag.sub("--", "--[no-]") : flag
      end

      def wrapped(text)
        text.scan(/\S.{0,78}(?=\s|\z)/).map { |line| "#{line}\n" }.join
      end
    end
  end
end
