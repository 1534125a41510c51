# frozen_string_literal: true

module Bench
  module Abuse
    # What the run has found. Each fault is a line of text.
    class Verdict
      # Seconds around a kill in which requests may fail.
      AROUND = 1
      # A line of the log about a process that has ended or is stopped, but not because a signal or a command said so.
      DEATH = / (?:warn|error) .*?\b(?:worker|master)\b.*?\(pid (\d+)\)(?! has lost a worker)/

      # responses: the lines of Clients. before, after: Usage.
      def initialize(server:, strikes:, loads:, responses:, before:, after:)
        @server = server
        @strikes = strikes
        @loads = loads
        @lost, @wrong = responses.partition { |words| words["result"] == "lost" }
        @before = before
        @after = after
      end

      def faults
        [*reports, *deaths, *deploys, *wrong, *lost, *crowds,
         *@after.grown_since(@before).map { |role| "the #{role} has more descriptors than at the beginning" }]
      end

      # { a kill => { load => requests that were lost } }
      def losses
        @strikes.kills.to_h { |kill| [kill, @loads.to_h { |load| [load, lost_at(load, kill)] }] }
      end

      private

      def reports = @server.reports.map { |text| "a sanitizer reports:\n#{text}" }

      def deaths
        @server.log.lines.filter_map do |line|
          pid = line[DEATH, 1]
          "not killed here: #{line.chomp}" if pid && @strikes.kills.none? { |kill| kill.pid == pid.to_i }
        end
      end

      # A deploy fails, and shall fail, if one of its workers is killed before all have been ready for a second.
      def deploys
        victims = Regexp.union(@strikes.kills.map { |kill| "(pid #{kill.pid}) ended" })
        @strikes.failures.grep_v(victims).map { |text| "a deploy failed: #{text}" }
      end

      def wrong
        lines = @loads.flat_map { |load| load.lines.filter_map { |line| [load.name, line.wrong] if line.wrong.any? } }
        [*lines, *@wrong.map { |words| words.values_at("kind", "text") }].map { |name, text| "wrong: #{name}: #{text}" }
      end

      # Requests that were lost while no worker was killed.
      def lost
        calm = @loads.flat_map do |load|
          lines = load.lines.select { |line| line.lost.any? && near(line.from, line.to).empty? }
          lines.map { |line| [load.name, line.lost] }
        end
        others = @lost.select { |words| near(words["at"], words["at"]).empty? }
        [*calm, *others.map { |words| words.values_at("kind", "text") }]
          .map { |name, text| "lost without a kill: #{name}: #{text}" }
      end

      # A connection of the load tool has one request at a time. So a worker cannot have had more requests of a load in
      # its hands than the load has connections.
      def crowds
        losses.flat_map do |kill, loads|
          loads.select { |load, count| count > load.connections }
               .map { |load, count| "#{load.name}: #{count} lost with worker #{kill.pid}" }
        end
      end

      # A line between two kills counts for both.
      def lost_at(load, kill)
        lines = load.lines.select { |line| line.lost.any? && near(line.from, line.to).include?(kill) }
        lines.sum { |line| line.lost.values.sum }
      end

      # The kills at this time, plus or minus AROUND.
      def near(from, to) = @strikes.kills.select { |kill| from - AROUND <= kill.to && to + AROUND >= kill.from }
    end
  end
end
