# frozen_string_literal: true

require "open3"

module Runner
  # Finds the test groups that a change can break. bin/test --changed runs these groups.
  module Changes
    SERVERS = %w[integration conform interop timing portable].freeze
    # { pattern of a changed path => groups to run }. own: the group that has the directory's name. The first pattern
    # that matches counts. If no pattern matches, all default groups run.
    TABLE = {
      %r{\Acore/src/(base|http|log)/} =>
        ["core", "threads", "arm64", "warnings", "fuzz", "lint", "ext", "load", *SERVERS],
      %r{\Acore/(src|include)/} => ["core", "threads", "warnings", "lint", "ext", *SERVERS],
      %r{\Acore/test/(http/|requests/|support/(standin/|guard|encode))} => %w[core arm64 fuzz load lint],
      %r{\Acore/test/} => %w[core threads lint timing portable],
      %r{\Acore/Makefile\z} => %w[core threads arm64 warnings timing portable],
      %r{\Acore/fuzz/} => %w[fuzz lint],
      %r{\Acore/chaos/} => %w[lint],
      %r{\Aext/bontebok/} => ["ext", "ext-rack", "lint", *SERVERS],
      %r{\A(load/|lib/bontebok/cli/bench_)} => %w[load warnings lint],
      %r{\Alib/bontebok/workers/rack_env} => ["unit", "ext", "ext-rack", "lint", *SERVERS],
      %r{\A(lib|exe)/} => ["unit", "lint", *SERVERS],
      %r{\Atest/(unit|integration|conform|interop|timing|soak|load)/} => %w[own lint],
      %r{\Atest/lint/} => %w[lint],
      %r{\Atest/ext/} => %w[ext ext-rack lint],
      %r{\A(bench|docs|examples)/|\A[^/]+\.md\z|\ALICENSE\z|\A\.(rubocop|clang-format|editorconfig|gitignore)} =>
        %w[lint]
    }.freeze

    class << self
      # Returns the names of the groups for all changes since `revision`. nil stands for the commit where this branch
      # left main, or for HEAD~ on main.
      def groups(revision, all)
        paths(revision || base).flat_map { |path| groups_of(path, all) }.uniq
      end

      def groups_of(path, all)
        _, groups = TABLE.find { |pattern, _groups| pattern.match?(path) }
        (groups || all).map { |group| group == "own" ? path.split("/")[1] : group }
      end

      private

      def paths(revision)
        (git("diff", "--name-only", "--no-renames", revision) + git("ls-files", "--others", "--exclude-standard")).uniq
      end

      def base
        fork_point = git("merge-base", "HEAD", "main", may_fail: true).first
        fork_point && fork_point != git("rev-parse", "HEAD").first ? fork_point : "HEAD~"
      end

      def git(*arguments, may_fail: false)
        output, error, status = Open3.capture3("git", *arguments)
        raise ArgumentError, "git #{arguments.join(" ")}: #{error}" unless status.success? || may_fail

        status.success? ? output.lines(chomp: true) : []
      end
    end
  end
end
