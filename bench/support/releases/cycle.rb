# frozen_string_literal: true

require_relative "../load"
require_relative "server"
require_relative "usage"

module Bench
  module Releases
    # Deploys one release after the other while clients send requests. One of ten operations is a deploy that fails, and
    # one is a rollback.
    class Cycle
      # The last digit of the number of such an operation.
      FAILING = 0
      ROLLBACK = 5
      # Requests per second, and seconds of one load.
      LOAD = ["-c", 4, "--rate", 50, "-d", 5].freeze
      REST = 30 # seconds

      # wrong: operations that did not end as they must, in words.
      attr_reader :wrong

      def initialize(server)
        @server = server
        @wrong = []
        @results = []
        @number = 0
      end

      # Starts the server, and yields the usage, the requests and the lost ones after each of these numbers of
      # operations. The first number is 0.
      def run(marks)
        @server.release = @serving = @number
        @server.start
        marks.each do |mark|
          under_load { operate while @number < mark }
          yield mark, Usage.of(@server.rest(REST) || raise(Deploys::Failed, "the server is not whole")),
                @results.sum(&:requests), @results.sum(&:failed)
        end
      end

      private

      # New connections and kept ones take turns.
      def under_load
        done = false
        load = Thread.new do
          [["--close"], []].cycle do |options|
            @results << Load.run(@server.address, *LOAD, *options)
            break if done
          end
        end
        yield
      ensure
        done = true
        load.join
      end

      def operate
        @number += 1
        case @number % 10
        when FAILING then deploy(Server::BAD, 1)
        when ROLLBACK then roll_back
        else deploy(@number, 0)
        end
        check
      end

      def deploy(release, status)
        @server.release = release
        expect(status, @server.ask("deploy", wait: true))
        return @server.release = @serving unless status.zero?

        @former = @serving
        @serving = release
      end

      def roll_back
        @former, @serving = @serving, @former
        @server.release = @serving
        expect(0, @server.ask("rollback", wait: true))
      end

      def expect(status, answer)
        return if answer && answer["status"] == status

        @wrong << "operation #{@number}: #{answer ? answer['text'] : 'no answer'}"
      end

      # Workers of the former generation accept until they know that they must retire.
      def check
        return @wrong << "operation #{@number}: the server is not whole" unless @server.rest(REST)

        served = @server.served
        @wrong << "operation #{@number}: #{served} serves, not #{@serving}" unless served == @serving.to_s
      end
    end
  end
end
