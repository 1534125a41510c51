# frozen_string_literal: true

require_relative "../aim"

module Bench
  module Releases
    # The table of bench/strikes, and the aims.
    class Tally
      COLUMNS = %w[operation struck signal rounds held down lost faults].freeze
      WORDS = 3 # columns with words; the others have numbers

      def initialize
        @results = []
        @lost = Hash.new { |hash, result| hash[result] = Hash.new(0) }.compare_by_identity
      end

      # result: of Rounds. Prints its faults at once.
      def add(result)
        @results << result
        result.lost.each { |answer| attribute(answer) }
        result.faults.each { |fault| puts "round #{@results.size} (#{title(result).join(', ')}): #{fault}" }
        $stdout.flush
      end

      # requests: their number; nil: the rounds have ended early.
      def report(requests = nil)
        puts "", "| #{COLUMNS.join(' | ')} |", "|#{'---|' * WORDS}#{'---:|' * (COLUMNS.size - WORDS)}"
        @results.group_by { |result| title(result) }.sort.each { |title, results| row(title, results) }
        row(["all", nil, nil], @results)
        puts "", "#{requests || 'unknown'} requests"
        lost = sum(@results, :lost)
        Bench.aim("each lost request was in the hands of a killed process (#{lost} were not)", lost.zero?)
        Bench.aim("the server is whole, and the release that was asked for serves",
                  @results.all? { |result| result.faults.empty? })
      end

      private

      def title(result) = [result.operation.to_s, result.strike.kind, result.strike.signal]

      # A request can end some rounds after the strike.
      def attribute(answer)
        held = @results.find { |result| result.strike.held?(answer) }
        down = @results.find { |result| result.strike.down?(answer) }
        kind = if held then :held
               else down ? :down : :lost
               end
        puts "round #{@results.size} (#{title(@results.last).join(', ')}): lost: #{answer.result}" if kind == :lost
        @lost[held || down || @results.last][kind] += 1
      end

      def row(title, results)
        puts "| #{[*title, results.size, *%i[held down lost].map { |kind| sum(results, kind) },
                   results.sum { |result| result.faults.size }].join(' | ')} |"
      end

      def sum(results, kind) = results.sum { |result| @lost[result][kind] }
    end
  end
end
