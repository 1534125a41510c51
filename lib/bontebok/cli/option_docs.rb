# frozen_string_literal: true

require_relative "option_prose"
require_relative "../config/option_table"

module Bontebok
  # Turns OptionTable into text for users: the output of --help, and docs/CONFIGURATION.md. The command
  # `ruby lib/bontebok/cli/option_docs.rb` writes that file, and a test compares the file with the table.
  module OptionDocs
    USAGE = <<~TEXT
      Usage: bontebok [-l ADDR]... [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
             bontebok deploy|rollback|stop|reopen|restart-workers|workers|drain|resume|status    (--help)
             bontebok bench [options] URL    (bontebok bench --help)
    TEXT

    OTHERS = [["    --check", "Print the value of every option and where it comes from"],
              ["-h, --help [OPTION]", "Print this page, or the description of one option"],
              ["-v, --version", "Print the version"]].freeze

    LAST_LINE = "bontebok --help OPTION describes one option.\n"

    # Width of the flags in the list of options, in columns.
    NAME_WIDTH = 34

    class << self
      # The text of --help: one line for each option, or everything about the given option.
      def help(option = nil)
        option ? help_page(option) : help_list
      end

      def markdown
        sections = OptionTable.sections.map { |title, options| markdown_section(title, options) }
        "#{OptionProse::INTRODUCTION}#{sections.join}#{OptionProse::HOOKS}"
      end

      private

      def help_list
        sections = OptionTable.sections.map do |title, options|
          lines = options.map { |option| help_line(list_flags(option), "#{option.summary} [#{option.default_text}]") }
          "#{title}\n#{lines.join}"
        end
        others = OTHERS.map { |flags, text| help_line(flags, text) }
        "#{USAGE}\n#{sections.join("\n")}\nOther\n#{others.join}\n#{LAST_LINE}"
      end

      def list_flags(option)
        short = option.short ? "-#{option.short}, " : "    "
        [short + option.flag, *option.type.metavar].join(" ")
      end

      def help_line(flags, text)
        "  #{flags.ljust(NAME_WIDTH)}  #{text}\n"
      end

      def help_page(option)
        rows = [["Default", option.default_text],
                ["Command line", page_flags(option)],
                ["Environment", option.environment_variables.join(", else ")],
                ["Configuration file", (option.all_keys.join(", ") if option.in_file?)]]
        rows = rows.map { |title, text| "#{title.ljust(18)}  #{text.to_s.empty? ? 'none' : text}\n" }
        "#{option.name}\n\n#{wrapped(option.help)}\n#{rows.join}"
      end

      def page_flags(option)
        flags = option.switch? ? option.flags.map { |flag| flag.sub("--", "--[no-]") } : option.flags
        [[*short_flag(option), *flags].join(", "), *option.type.metavar].join(" ")
      end

      def short_flag(option)
        "-#{option.short}" if option.short
      end

      def wrapped(text)
        text.scan(/\S.{0,78}(?=\s|\z)/).map { |line| "#{line}\n" }.join
      end

      def defaults(option)
        [*option.environment_variables.map { |name| "$#{name}" }, option.default_text].join(", else ")
      end

      def markdown_section(title, options)
        rows = options.map { |option| "| #{markdown_cells(option).join(' | ')} |\n" }
        "\n## #{title}\n\n| option | command line | default | |\n|---|---|---|---|\n#{rows.join}"
      end

      def markdown_cells(option)
        flags = [*short_flag(option), *option.flags].map { |flag| "`#{flag}`" }
        cells = [option.name, flags.join(" "), defaults(option), option.help]
        cells.map { |cell| cell.gsub("|", "\\|").gsub("*", "\\*") }
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  File.write(File.expand_path("../../../docs/CONFIGURATION.md", __dir__), Bontebok::OptionDocs.markdown)
end
