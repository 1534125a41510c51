# frozen_string_literal: true

require_relative "option_prose"
require_relative "../config/option_table"

module Bontebok
  # What OptionTable says, as text for people: --help, and docs/CONFIGURATION.md, which `ruby
  # lib/bontebok/cli/option_docs.rb` writes anew and a test compares.
  module OptionDocs
    USAGE = <<~TEXT
      Usage: bontebok [-l ADDR]... [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
             bontebok bench [options] URL    (bontebok bench --help)
    TEXT

    OTHERS = [["    --check", "Print the value of every option and where it comes from."],
              ["-h, --help", "Print this page."],
              ["-v, --version", "Print the version."]].freeze

    class << self
      # The text of --help.
      def help
        sections = OptionTable.sections.map { |title, options| help_section(title, options) }
        others = OTHERS.map { |flags, text| help_entry(flags, text) }
        "#{USAGE}\n#{sections.join("\n")}\nOther\n#{others.join}"
      end

      # The text of docs/CONFIGURATION.md.
      def markdown
        sections = OptionTable.sections.map { |title, options| markdown_section(title, options) }
        "#{OptionProse::INTRODUCTION}#{sections.join}#{OptionProse::HOOKS}"
      end

      private

      def help_section(title, options)
        "#{title}\n#{options.map { |option| help_entry(help_flags(option), help_text(option)) }.join}"
      end

      def help_flags(option)
        short = option.short ? "-#{option.short}, " : "    "
        return "#{short}#{option.flag.sub('--', '--[no-]')}" if option.switch?

        "#{short}#{option.flags.join(', ')} #{option.type.metavar}"
      end

      def help_text(option)
        "#{option.help} Default: #{defaults(option)}."
      end

      def help_entry(flags, text)
        lines = text.scan(/\S.{0,84}(?=\s|\z)/).map { |line| "          #{line}\n" }
        "  #{flags}\n#{lines.join}"
      end

      def defaults(option)
        [*option.environment_variables.map { |name| "$#{name}" }, option.default_text].join(", else ")
      end

      def markdown_section(title, options)
        rows = options.map { |option| "| #{markdown_cells(option).join(' | ')} |\n" }
        "\n## #{title}\n\n| option | command line | default | |\n|---|---|---|---|\n#{rows.join}"
      end

      def markdown_cells(option)
        flags = [("-#{option.short}" if option.short), *option.flags].compact.map { |flag| "`#{flag}`" }
        cells = [option.name, flags.join(" "), defaults(option), option.help]
        cells.map { |cell| cell.gsub("|", "\\|").gsub("*", "\\*") }
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  File.write(File.expand_path("../../../docs/CONFIGURATION.md", __dir__), Bontebok::OptionDocs.markdown)
end
