# frozen_string_literal: true

module Bench
  module Faults
    # The results of the requests of one run, by second. A request is in time if its response is 200 and complete within
    # the limit.
    class Shares
      # limit: seconds; strike: the second of the fault, from which the totals count.
      def initialize(requests, seconds:, limit:, strike:)
        @requests = requests.reject { |request| request.result == :closed }
        @seconds = seconds
        @limit = limit
        @strike = strike
      end

      # For each second: the percentage of its due requests that were in time; nil without requests.
      def by_second
        Array.new(@seconds) { |second| share(@requests.select { |request| request.due.to_i == second }) }
      end

      def worst = by_second.drop(@strike).compact.min

      # Number of seconds after the fault in which a request waited and no response 200 came.
      def silent
        (@strike...@seconds).count do |second|
          asked?(second) && responses.none? { |request| (request.due + request.after).to_i == second }
        end
      end

      # The percentage of requests in time, after the fault. kind: :new, :kept or nil for both. nil if there were no
      # requests.
      def total(kind = nil)
        share(since_strike.select { |request| kind.nil? || request.kind == kind })
      end

      # The numbers of late and of failed requests since the fault: "12 late, 3 reset".
      def failures
        late, failed = since_strike.reject { |request| in_time?(request) }.partition { |request| request.result == :ok }
        counts = failed.group_by(&:result).map { |result, requests| "#{requests.size} #{result}" }
        counts.unshift("#{late.size} late") if late.any?
        counts.empty? ? "-" : counts.join(", ")
      end

      private

      def since_strike = @requests.select { |request| request.due >= @strike }
      def responses = @requests.select { |request| request.result == :ok }
      def in_time?(request) = request.result == :ok && request.after <= @limit

      def asked?(second)
        @requests.any? { |request| request.due < second + 1 && (request.due + (request.after || @seconds)) >= second }
      end

      def share(requests)
        requests.empty? ? nil : (100.0 * requests.count { |request| in_time?(request) } / requests.size)
      end
    end
  end
end
