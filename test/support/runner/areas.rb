# frozen_string_literal: true

require_relative "changes"

module Runner
  # Chooses the tests for bin/test --changed: those that are likely to find a fault in the changed files. The default
  # run has everything that can.
  module Areas
    # Integration tests of a directory of lib/bontebok, beside the unit tests of the same directory.
    INTEGRATION = {
      "adapters" => %w[interop:{rackup,rails_server,sinatra_server}],
      "cli" => %w[integration:start/* integration:sockets/process_control* integration:replace/{canary,control}
                  integration:status/*],
      "config" => %w[integration:start/*],
      "embedded" => %w[integration:embedded/*],
      "log" => %w[integration:logs/*],
      "processes" => %w[integration:{replace,signals}/* integration:start/start_directory integration:faults/process_*
                        integration:sockets/process_control*],
      "sockets" => %w[integration:{sockets,start}/* integration:replace/process_departure],
      "status" => %w[integration:status/*],
      "system" => %w[integration:{signals,start}/*],
      "workers" => %w[ext conform integration:{faults,signals,embedded}/*]
    }.freeze
    # Groups whose test files are not in the directory that has the group's name.
    GROUPS = { "interop/psgi" => "psgi" }.freeze
    # { pattern of a changed path => groups, and patterns of test files as directory:pattern }. own: the file itself.
    # users: the test files that load the file. The first pattern that matches counts; without a match, Changes::TABLE.
    TABLE = {
      %r{\Atest/(unit|ext|conform|integration|interop|timing|soak)/.*_test\.rb\z} => %w[own lint],
      %r{\Atest/\w+/support/.*\.rb\z} => %w[users lint],
      %r{\A(bin/test\z|test/support/run(ner/|\.rb))} => %w[unit:support/**/* lint],
      %r{\Atest/(support/|support\.rb|test_helper\.rb)} => %w[unit:support/**/* conform lint integration:signals/*],
      %r{\Acore/src/(base|http|representation|log)/} => %w[core arm64 fuzz ext conform lint integration:logs/*],
      %r{\Acore/(src|include)/} => %w[core threads ext conform lint integration:{faults,files,limits}/*],
      %r{\Aext/} => %w[ext conform lint integration:{embedded,files}/* unit:{sockets/worker_links,system/held_signals}],
      %r{\Alib/bontebok/cli/bench_} => %w[load unit:cli/**/* lint],
      %r{\Aexe/} => %w[lint integration:{signals,start}/*]
    }.freeze

    class << self
      # Returns { name of a group => test files; nil: the whole group } for the paths. all: the default groups.
      def selection(paths, all)
        targets = paths.flat_map { |path| targets_of(path, all).flat_map { |target| resolved(target, path) } }
        whole, parts = targets.uniq.partition { |target| !target.include?(":") }
        chosen = parts.group_by { |part| group_of(part) }
                      .transform_values { |targets_of_group| targets_of_group.flat_map { |target| files(target) }.uniq }
        chosen.reject { |_group, found| found.empty? }.merge(whole.to_h { |group| [group, nil] })
      end

      def targets_of(path, all)
        _, targets = TABLE.find { |pattern, _targets| pattern.match?(path) }
        targets || (area(path) if path.start_with?("lib/bontebok/")) || Changes.groups_of(path, all)
      end

      private

      def resolved(target, path)
        case target
        when "own" then [target_of(path)]
        when "users" then users(path).map { |file| target_of(file) }
        else [target]
        end
      end

      # nil: no such directory.
      def area(path)
        name = path.split("/")[2]
        INTEGRATION[name]&.+(["unit:#{name}/**/*", "lint"])
      end

      def target_of(path)
        path.match(%r{\Atest/(interop/psgi|\w+)/(.*)_test\.rb\z}).captures.join(":")
      end

      def group_of(target)
        directory = target[/\A[^:]+/]
        GROUPS.fetch(directory, directory)
      end

      # The test files that load this file, also by way of other files. Not those of soak, which take minutes.
      def users(path, known = [path])
        group, name = path.match(%r{\Atest/(\w+)/(.*)\.rb\z}).captures
        near = /^ *require(_relative)? ".*\b#{File.basename(name)}"/
        far = %r{^ *require_relative ".*/#{group}/#{name}"}
        loading = (Dir.glob("test/**/*.rb") - Dir.glob("test/soak/**/*.rb")).select do |file|
          File.read(file).match?(file.start_with?("test/#{group}/") ? near : far)
        end - known
        tests, others = loading.partition { |file| file.end_with?("_test.rb") }
        tests + others.flat_map { |file| users(file, known.concat(loading)) }
      end

      def files(target)
        directory, pattern = target.split(":")
        Dir.glob("test/#{directory}/#{pattern}_test.rb")
      end
    end
  end
end
