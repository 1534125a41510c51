# frozen_string_literal: true

require_relative "option_prose"
require_relative "../config/option_table"

module Bontebok
  # Turns OptionTable into docs/CONFIGURATION.md. The command `ruby lib/bontebok/cli/option_docs.rb` writes that file,
  # and a test compares the file with the table.
  module OptionDocs
    # The options that most users set first.
    FIRST = %i[listen max_workers threads environment config_file health_paths request_timeout max_body log
               access_log].freeze

    class << self
      def markdown
        sections = OptionTable.sections.map { |title, options| markdown_section(title, options) }
        "#{OptionProse::TITLE}#{first}#{OptionProse::INTRODUCTION}#{sections.join}#{OptionProse::HOOKS}"
      end

      private

      def first
        rows = FIRST.map { |key| OptionTable[key] }.map do |option|
          "| #{cells(option.name, flags(option), defaults(option), option.summary).join(' | ')} |\n"
        end
        "#{OptionProse::FIRST}\n| option | command line | default | |\n|---|---|---|---|\n#{rows.join}\n"
      end

      def markdown_section(title, options)
        rows = options.map do |option|
          "| #{cells(option.name, flags(option), defaults(option), option.help).join(' | ')} |\n"
        end
        "\n## #{title}\n\n| option | command line | default | |\n|---|---|---|---|\n#{rows.join}"
      end

      def flags(option)
        [*("-#{option.short}" if option.short), *option.flags].map { |flag| "`#{flag}`" }.join(" ")
      end

      def defaults(option)
        [*option.environment_variables.map { |name| "$#{name}" }, option.default_text].join(", else ")
      end

      def cells(*texts)
        texts.map { |cell| cell.gsub("|", "\\|").gsub("*", "\\*") }
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  File.write(File.expand_path("../../../docs/CONFIGURATION.md", __dir__), Bontebok::OptionDocs.markdown)
end
