# frozen_string_literal: true

require "json"
require_relative "../build"

module Bench
  module Abuse
    # The load tool, with a line for each second of its run.
    class LoadLines
      # Errors of requests whose connection has ended early. A killed worker causes no other errors.
      LOST = %w[reset short].freeze
      # from, to: the time of the line. lost, wrong: { error => number }.
      Line = Struct.new(:from, :to, :lost, :wrong)

      attr_reader :name, :connections, :lines, :report

      def initialize(name, url, connections, arguments)
        @name = name
        @connections = connections
        @command = [Build.load_tool, "--json", "--timeline", "-c", connections.to_s, *arguments, url]
        @lines = []
      end

      def run(seconds)
        before = Abuse.now
        IO.popen([*@command, "-d", seconds.to_s]) do |output|
          output.each_line { |text| before = note(JSON.parse(text), before) }
        end
        self
      end

      private

      # Returns the time. The report is the last line.
      def note(values, before)
        now = Abuse.now
        failed = values["errors"].select { |_error, count| count.positive? }
        line = Line.new(before, now, *failed.partition { |error, _count| LOST.include?(error) }.map(&:to_h))
        values.key?("second") ? @lines << line : @report = values
        now
      end
    end
  end
end
