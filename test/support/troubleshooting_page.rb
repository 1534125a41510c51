# frozen_string_literal: true

module Support
  # The lines that docs/TROUBLESHOOTING.md quotes: all lines of its blocks of the type `text`, by heading. Tests produce
  # the symptoms, and check that the server and nginx print these lines.
  module TroubleshootingPage
    PATH = File.expand_path("../../docs/TROUBLESHOOTING.md", __dir__)
    # Directories of the page. In a test, each is the test's own directory.
    DIRECTORIES = %r{/(?:run|srv)/app(?=/)}

    # { heading => the lines }
    def self.quotes
      @quotes ||= File.read(PATH).split(/^## /).drop(1).to_h { |section| [section.lines.first.chomp, lines(section)] }
                      .reject { |_heading, lines| lines.empty? }
    end

    def self.lines(section)
      section.scan(/^```text\n(.*?)^```$/m).join.lines(chomp: true)
    end

    # Checks that each quoted line under the heading that matches `only` is a part of a line of the text.
    def assert_quoted(heading, text, only: //)
      quoted = TroubleshootingPage.quotes.fetch(heading).grep(only)
      refute_empty quoted, "#{heading}: no line matches #{only.inspect}"
      printed = text.lines.map { |line| comparable(line) }
      quoted.each do |line|
        assert(printed.any? { |all| all.include?(comparable(line)) },
               "#{heading}: this line was not printed:\n#{line}\nPrinted:\n#{text}")
      end
    end

    private

    # Replaces what differs between two runs: directories, numbers and the name of Ruby's program.
    def comparable(line)
      line.chomp.gsub(/\(ruby[\d.]*\)/, "(ruby)").gsub(temp_dir, "DIR").gsub(DIRECTORIES, "DIR")
          .gsub(/\d+(?:[.:]\d+)*/, "N")
    end
  end
end
