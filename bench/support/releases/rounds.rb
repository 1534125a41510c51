# frozen_string_literal: true

require_relative "crowd"
require_relative "server"
require_relative "strike"

module Bench
  module Releases
    # Begins an operation of a server under load, strikes one of its processes at a random moment, and looks at the
    # server afterwards. The same seed gives the same operations and moments, but not the same states of the server.
    class Rounds
      CLIENTS = 8
      # Seconds in which the moment of a strike is. A deploy takes about as long.
      SPAN = 1.2
      LIMIT = 30 # seconds, for the end of an operation, and until the server is whole
      # Requests after a round. All must be served by the release that the operation leads to.
      LOOKS = 6
      # Each round has one of these, chosen at random. The release of `fail` does not load.
      OPERATIONS = [*[:deploy] * 6, *[:fail] * 2, *[:rollback] * 2].freeze

      # faults: texts about the server after the round. lost: Client::Answers.
      Result = Struct.new(:operation, :strike, :faults, :lost)

      def initialize(server, seed)
        @server = server
        @random = Random.new(seed)
        @number = 0
        @releases = {} # generation => release
      end

      # Yields a Result after each round. Returns the number of requests.
      def run(count)
        @server.release = @serving = @number
        @server.start
        crowd = Crowd.new(@server.address, CLIENTS)
        before = whole
        count.times do
          result, before = round(before)
          result.lost = crowd.lost
          yield result
        end
        crowd.requests
      ensure
        crowd&.finish
      end

      private

      # before: the Family at rest. Returns the Result and the Family afterwards.
      def round(before)
        operation, asked = choose
        @server.release = operation == :fail ? Server::BAD : asked
        command = Thread.new { @server.ask(operation == :rollback ? "rollback" : "deploy", wait: true) }
        sleep(@random.rand(SPAN))
        strike = Strike.new(before, @server.family, @random)
        strike.run { restart }
        ended = command.join(LIMIT)
        @serving = asked if ended && succeeded?(command.value) && !strike.supervisor_killed?
        @server.release = @serving
        faults = ended ? [] : ["the command does not end"]
        [Result.new(operation, strike, faults + look), whole]
      end

      # Returns the operation, and the release to which it must lead if it succeeds.
      def choose
        operation = OPERATIONS.sample(random: @random)
        former = @releases[@server.status["former"]]
        return [operation, former] if operation == :rollback && former
        return [operation, @serving] if operation == :fail

        [:deploy, @number += 1]
      end

      # answer: the last message of a command; nil: there is none.
      def succeeded?(answer) = !answer.nil? && answer["status"].zero?

      # Without its supervisor a server ends, and a service manager starts the next one.
      def restart
        @server.bury(LIMIT)
        @server.release = @serving
        @releases.clear
        @server.start
      end

      def whole = @server.rest(LIMIT) || raise(Deploys::Failed, "the server is not whole: #{@server.status}")

      # Returns the faults.
      def look
        return ["not whole within #{LIMIT} s"] unless @server.rest(LIMIT)

        @releases[@server.status["generation"]] = @serving
        served = Array.new(LOOKS) { @server.served }.tally
        served.keys == [@serving.to_s] ? [] : ["#{@serving} must serve, and responses are from #{served}"]
      end
    end
  end
end
