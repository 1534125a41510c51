# frozen_string_literal: true

require "forwardable"
require_relative "../sockets/channel"
require_relative "../system/clock"
require_relative "../config/hooks"
require_relative "children/pauses"
require_relative "children/record"
require_relative "children/roster"
require_relative "children/rules"

module Bontebok
  # The workers of a master. This class forks them, reads their words, and reaps them. Rules decides what they must do.
  class Children
    extend Forwardable

    def_delegators :@rules, :go, :stop, :kill, :resume, :renew, :renew_slowly, :more, :fewer, :together=, :together?,
                   :settled?, :hopeless
    def_delegators :@roster, :empty?, :size, :whole?, :waiting?
    def_delegator :@roster, :reached?, :any?

    # count: how many workers there must be. pause: seconds before the next start after a first failure. boot, grace,
    # hijack: see Rules. ended: called with each Child that has ended. stalled: the StalledWorkers, or nil. The block
    # gets a number, forks the worker and returns the ForkedProcess; the block may raise Hooks::Failed.
    def initialize(count, pause:, grace:, log:, hijack: grace, boot: Float::INFINITY, ended: proc {}, stalled: nil,
                   &start)
      @roster = Roster.new(count)
      record = Record.new("worker", @roster.numbers, log)
      @rules = Rules.new(@roster, Pauses.new(pause), record, boot: boot, grace: grace, hijack: hijack)
      @ended = ended
      @stalled = stalled
      @start = start
    end

    # The channels that #tick reads.
    def sources = @roster.audible.map(&:channel)

    # The time (Clock) at which #tick must be called; nil: none. Words that wait in a channel of this process are sent
    # again soon.
    def deadline
      [*@rules.deadlines, *(Clock.now + Clock::STEP if Channel.full?)].select(&:finite?).min
    end

    # The time at which #tick next looks for workers that do not move; nil: no worker serves yet.
    def next_look
      @stalled&.time if @roster.any? { |child| child.reached?(:ready) }
    end

    # Reads and sends words. Starts, retires and kills workers by the rules.
    def tick
      Channel.flush
      hear_and_reap
      @rules.time_passed
      @stalled.look.each { |pid, reason| @rules.stalled(pid, reason) } if next_look
      @rules.fill { |number| start(number) }
    end

    # Sends the word to all workers. A worker that still loads gets the word when it is loaded.
    def tell(word)
      @roster.each { |child| child.tell(word) }
    end

    private

    # The last words of a worker that has ended are heard before its end counts.
    def hear_and_reap
      @roster.reject(&:ended?).each(&:check)
      @roster.audible.each { |child| child.hear.each { |word| @rules.heard(child, word) } }
      @roster.select(&:ended?).each do |child|
        child.channel.close
        @rules.ended(child)
        @ended.call(child)
      end
    end

    def start(number)
      @rules.started(number, @start.call(number))
    rescue Errno::EAGAIN => e
      @rules.refused(number, e)
    rescue SystemCallError, Hooks::Failed => e
      @rules.not_started(number, e, fault: e.is_a?(Hooks::Failed))
    end
  end
end
