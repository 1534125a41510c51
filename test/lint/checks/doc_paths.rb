# frozen_string_literal: true

module Lint
  # Checks that every path of this repository and every link in the documents names an existing file or directory.
  class DocPaths
    DOCUMENTS = ["*.md", "docs/**/*.md", ".github/**/*.md"].freeze
    DIRECTORIES = %w[core ext perl load lib exe test bench docs bin examples gemfiles].freeze
    # A path of this repository. A part of a longer path, of a URL or of a placeholder does not match. The path can
    # contain *, and can end with a slash.
    PATH = %r{(?<![\w/.~$<@-])(?:#{Regexp.union(DIRECTORIES)})/[\w.*/{},-]*[\w*/\}]}
    LINK = /\]\((?!\w+:|#)([^)\s#]+)/

    def initialize(root)
      @root = root
    end

    def faults
      Dir.glob(DOCUMENTS, base: @root).sort.flat_map do |document|
        File.readlines(File.join(@root, document), encoding: "UTF-8").each_with_index.flat_map do |line, index|
          (dead_paths(line) + dead_links(document, line)).map { |path| "#{document}:#{index + 1} names #{path}" }
        end
      end
    end

    private

    def dead_paths(line)
      line.scan(PATH).reject { |path| there?(path) || line.match?(/#{Regexp.escape(path)}\w*</) }
    end

    def dead_links(document, line)
      line.scan(LINK).flatten.reject { |target| there?(File.join(File.dirname(document), target)) }
    end

    def there?(path)
      !Dir.glob(path, base: @root).empty?
    end
  end
end
