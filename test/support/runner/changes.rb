# frozen_string_literal: true

require "open3"

module Runner
  # Finds the changed files, and the test groups that they can break.
  module Changes
    SERVERS = %w[integration conform interop timing portable].freeze
    CORE = %w[core threads warnings lint timing-core].freeze
    # SERVERS, and the groups that load the extension into their own process.
    BINDING = ["ext", "ext-rack", "unit", *SERVERS].freeze
    PERL = %w[perl psgi].freeze
    # Groups in Ruby that also start servers in Perl.
    BOTH = %w[conform integration timing].freeze
    # { pattern of a changed path => groups to run }. own: the group that has the directory's name. The first pattern
    # that matches counts. If no pattern matches, all default groups run. Each group must be in the row of each file
    # that can change its result, because a group that has passed runs again only after such a change (Stamps).
    TABLE = {
      %r{\Acore/(src/(base|http|representation|log)|include)/} => [*CORE, "arm64", "fuzz", "load", *BINDING, *PERL],
      %r{\Acore/src/files/file_path} => [*CORE, "fuzz", "load", *BINDING, *PERL],
      %r{\Acore/src/} => [*CORE, "load", *BINDING, *PERL],
      %r{\Acore/test/((http|representation|requests)/|support/(standin/|guard|encode|fail_alloc))} =>
        [*CORE, "arm64", "fuzz", "load"],
      %r{\Acore/test/} => [*CORE, "load"],
      %r{\Acore/Makefile\z} => [*CORE, "arm64", "portable"],
      %r{\Acore/fuzz/} => %w[fuzz lint],
      %r{\Acore/chaos/} => %w[core threads lint],
      %r{\Aext/bontebok/} => ["lint", *BINDING],
      %r{\Aperl/t/psgi/} => %w[psgi lint],
      %r{\Aperl/(t/(?!psgi/|lib/).+\.t\z|xt/)} => %w[perl lint],
      %r{\Aperl/(t/|README|MANIFEST|cpanfile)} => ["lint", *PERL],
      %r{\Aperl/} => ["lint", *PERL, *BOTH],
      %r{\Aload/(src/|Makefile\z)} => ["load", "warnings", "lint", *SERVERS],
      %r{\Aload/} => %w[load warnings lint],
      %r{\Alib/bontebok/cli/bench_} => %w[load unit integration timing lint],
      %r{\Alib/bontebok/((config|system|workers)/|[^/]+\z)} => ["lint", *BINDING],
      %r{\A(lib|exe)/} => ["unit", "lint", *SERVERS],
      %r{\Atest/integration/support/} => %w[integration interop timing lint],
      %r{\Atest/conform/support/} => %w[conform integration psgi timing unit lint],
      %r{\Atest/interop/(files/)?support/} => %w[interop psgi lint],
      %r{\Atest/interop/psgi/} => %w[psgi lint],
      %r{\Atest/load/support} => %w[load timing lint],
      %r{\Atest/(unit|integration|conform|interop|timing|soak|load|portable)/} => %w[own lint],
      %r{\Atest/lint/|\Acore/mime_types\.rb\z} => %w[lint],
      %r{\Atest/ext/} => %w[ext ext-rack lint],
      %r{\Abench/(stream_client/|support/build)} => %w[load lint],
      %r{\Abench/support/(crowd|decoy)} => %w[integration lint],
      %r{\Abench/(canary\z|support/(aim|canary/))} => %w[unit lint],
      %r{\Adocs/(FORK_SAFETY|TROUBLESHOOTING)} => %w[integration interop lint],
      %r{\A(examples/|docs/(RAILS|SINATRA|LOGS|DEPLOYMENT))} => %w[interop lint],
      %r{\Adocs/(CONFIGURATION|decisions/0021)} => %w[unit lint],
      %r{\Adocs/APPLICATIONS} => %w[ext ext-rack lint],
      %r{\Adocs/STREAMS} => %w[ext integration lint],
      %r{\Adocs/PERL} => %w[interop psgi lint],
      /\AREADME/ => %w[interop lint],
      %r{\A(bench|docs)/|\A[^/]+\.md\z|\ALICENSE\z|\A\.(rubocop|clang-format|editorconfig|gitignore)} => %w[lint]
    }.freeze

    class << self
      # Returns the paths of all files that have changed since `revision`, committed or not. nil stands for the commit
      # where this branch left main, or for HEAD~ on main.
      def paths(revision)
        revision ||= base
        (git("diff", "--name-only", "--no-renames", revision) + git("ls-files", "--others", "--exclude-standard")).uniq
      end

      # Returns the names of the groups whose result can change with this file. all: the groups that run by default.
      def groups_of(path, all)
        _, groups = TABLE.find { |pattern, _groups| pattern.match?(path) }
        (groups || all).map { |group| group == "own" ? path.split("/")[1] : group }
      end

      private

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
