# frozen_string_literal: true

require_relative "../aim"
require_relative "../psgi/fleet"
require_relative "../psgi/markdown"

module Bench
  module Waits
    # One question of bench/waits. A subclass overrides the methods in which it differs.
    class Question
      APP = "waits.psgi"
      WORKERS = 4

      # For --questions.
      def name = self.class.name.split("::").last.downcase
      def title = raise(NotImplementedError)
      # The columns after the server's name.
      def columns = raise(NotImplementedError)
      # The servers that have what the question is about; nil: all.
      def servers = nil
      # One for each row of a server.
      def variants = [nil]
      # Settings (see Psgi::Settings) that differ.
      def settings(_variant) = { workers: WORKERS }

      # Measures all servers. Prints a table and the aims. transport: "tcp" or "unix".
      def answer(chosen, transport)
        @transport = transport
        puts "", "**#{name}**: #{title}", ""
        Psgi::Markdown.head(["server", *columns], 1)
        rows = chosen.select { |contestant| servers.nil? || servers.include?(contestant.name) }.product(variants)
        results = rows.map { |contestant, variant| [contestant.name, row(chosen, contestant, variant)] }
        puts
        ours = results.select { |name, result| name == Psgi::OURS && result }.map(&:last)
        judge(ours) if ours.any?
      end

      private

      # Returns the result, or nil if the server does not start or cannot be measured.
      def row(chosen, contestant, variant)
        settings = Psgi::Settings.new(mode: :kept, **settings(variant))
        result = Psgi::Fleet.open(chosen, contestant, settings, transport: @transport, app: APP) do |fleet|
          measure(fleet, variant)
        end
        Psgi::Markdown.row([chosen.title(contestant.name), *values(result, variant)])
        result
      rescue Psgi::Fleet::Failed => e
        warn "left out: #{contestant.name}: #{e.message}"
      end

      # Returns a result.
      def measure(_fleet, _variant) = raise(NotImplementedError)

      # The values of the columns.
      def values(_result, _variant) = raise(NotImplementedError)

      # Prints the aims for the results of our server.
      def judge(_results) = raise(NotImplementedError)

      # Prints whether the seconds are less than the limit.
      def judge_seconds(what, seconds, limit)
        Bench.aim(format("%s: under %g s (%.3f s)", what, limit, seconds), seconds < limit)
      end

      def milliseconds(seconds) = format("%.1f", seconds * 1000)
    end
  end
end
