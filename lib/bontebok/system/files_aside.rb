# frozen_string_literal: true

module Bontebok
  # Files that are out of the way for a moment. With it, --check tries what a start does with a path, and changes
  # nothing.
  module FilesAside
    # Runs the block. Meanwhile the files have other names. Raises SystemCallError.
    def self.put(paths)
      moved = []
      paths.each { |path| File.rename(path, aside(path)) && (moved << path) }
      yield
    ensure
      moved.each { |path| File.rename(aside(path), path) }
    end

    def self.aside(path)
      "#{path}.#{Process.pid}"
    end
    private_class_method :aside
  end
end
