# frozen_string_literal: true

require_relative "../../../lib/bontebok/config/option_table"

module Bontebok
  # Writes the tables of docs/CONFIGURATION.md from OptionTable. The command `ruby test/unit/support/option_docs.rb`
  # changes that file, and a test compares the tables with OptionTable. People write the text around the tables.
  module OptionDocs
    PAGE = File.expand_path("../../../docs/CONFIGURATION.md", __dir__)
    # The options that most users set first.
    FIRST = %i[listen max_workers threads environment config_file health_paths request_timeout max_body log
               access_log].freeze
    # The places of the tables in the page: that of FIRST, and that of all options.
    PLACES = /(?<=<!-- options -->\n).*?(?=\n<!-- end of options -->)/m

    class << self
      # Returns the page with tables that are up to date.
      def markdown(page = File.read(PAGE, encoding: "UTF-8"))
        sections = OptionTable.sections.map { |title, options| "\n## #{title}\n#{table(options, &:help)}" }
        tables = [table(FIRST.map { |key| OptionTable[key] }, &:summary), sections.join]
        page.gsub(PLACES) { tables.shift }
      end

      private

      # The block returns the text about an option.
      def table(options)
        rows = options.map do |option|
          cells = [option.name, flags(option), defaults(option), yield(option)]
          "| #{cells.map { |cell| cell.gsub('|', '\\|').gsub('*', '\\*') }.join(' | ')} |\n"
        end
        "\n| option | command line | default | |\n|---|---|---|---|\n#{rows.join}"
      end

      def flags(option)
        [*("-#{option.short}" if option.short), *option.flags].map { |flag| "`#{flag}`" }.join(" ")
      end

      def defaults(option)
        [*option.environment_variables.map { |name| "$#{name}" }, option.default_text].join(", else ")
      end
    end
  end
end

File.write(Bontebok::OptionDocs::PAGE, Bontebok::OptionDocs.markdown) if $PROGRAM_NAME == __FILE__
