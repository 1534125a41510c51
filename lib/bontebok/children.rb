# frozen_string_literal: true

require_relative "child"
require_relative "children/pauses"
require_relative "children/record"
require_relative "children/turns"
require_relative "hooks"

module Bontebok
  # The children that a process must have, by number: the supervisor's one master, a master's workers. Keeps one staying
  # child per number alive and replaces those that go. The rules:
  #
  #   - One that was ready and ends is replaced at once. One that ends before it was ready is a failure: its number
  #     pauses, longer with each failure in a row. To end by itself sooner than such a pause after it was ready is a
  #     failure as well, from the second time in a row.
  #   - One that asks to leave goes on serving until its replacement is ready. Then it retires: what it has not accepted
  #     is for the others. Of several that ask each waits until the one before it has ended.
  #   - One that does not end in time after it was told to is killed, and the log says which.
  class Children
    # name: what the log calls a child. margin: seconds that one may take on top of patience, and of what an end at once
    # may take, if it has children of its own to wait for. interval: seconds between any two starts. ended: is called
    # with each Child that has ended. The block forks the child of a number and returns the Child; it may raise
    # Hooks::Failed.
    def initialize(name, count, pause:, patience:, log:, interval: 0, margin: 0, ended: proc {}, &start)
      @numbers = (1..count).to_a
      @pauses = Pauses.new(pause, interval)
      @turns = Turns.new
      @drain_seconds = patience + margin
      @quit_seconds = Child::QUIT_SECONDS + margin
      @record = Record.new(name, @numbers, log)
      @ended = ended
      @start = start
      @children = []
      @go = false
      @stopping = false
    end

    def empty?
      @children.empty?
    end

    # Waits until something happens to a child, a deadline passes or one of the others is readable. Returns the readable
    # ones of the others; #mind is to follow, after the signals were taken: a CHLD that comes later wakes the next wait.
    def wait(*others)
      readable, = IO.select([*others, *@children.reject(&:deaf?).map(&:channel)], nil, nil, seconds_to_wait)
      others & readable.to_a
    end

    # Hears what the children say, and starts, retires and kills by the rules above.
    def mind
      @children.reject(&:deaf?).each { |child| child.hear.each { |word| note(child, word) } }
      reap
      kill_overdue
      return if @stopping

      replace_next
      fill
    end

    # Somebody else has waited for a process, which may be one of these.
    def ended(pid, status)
      @children.find { |child| child.pid == pid }&.ended(status)
    end

    # Every number has a child that came so far, or has failed. Once one is there, those are not waited for whose first
    # start is still to come.
    def settled?(step)
      @numbers.all? do |number|
        @pauses.failing?(number) || of(number).any? { |child| child.reached?(step) } ||
          (of(number).empty? && any?(step))
      end
    end

    def any?(step)
      @children.any? { |child| child.reached?(step) }
    end

    # Lets those serve that are loaded, and those that will be.
    def go
      @go = true
      @children.each { |child| child.channel.say(:go) if child.reached?(:loaded) && !child.reached?(:ready) }
    end

    # All are replaced at once.
    def renew
      @children.each { |child| replace(child) }
    end

    # They are replaced one after the other, as if each had asked to leave.
    def renew_slowly
      @turns.add(*@children)
    end

    # Nothing is started any more.
    def drain
      @stopping = true
      @children.each { |child| child.drain(@drain_seconds) }
    end

    def retire
      @stopping = true
      @children.each { |child| child.retire(@drain_seconds) }
    end

    def quit
      @stopping = true
      @children.each { |child| child.quit(@quit_seconds) }
    end

    private

    def of(number)
      @children.select { |child| child.number == number }
    end

    def missing?(number)
      of(number).none?(&:staying?)
    end

    def fill
      @numbers.each { |number| start(number) if missing?(number) && @pauses.over(number) <= Child.now }
    end

    # When there is no room for one more process or pipe now, there may be later.
    def start(number)
      @children << @start.call(number)
      @pauses.started
    rescue SystemCallError, Hooks::Failed => e
      @record.cannot_start(number, e)
      @pauses.failed(number)
    end

    def seconds_to_wait
      times = @children.filter_map(&:deadline)
      times.concat(@numbers.select { |number| missing?(number) }.map { |number| @pauses.over(number) }) unless @stopping
      earliest = times.min
      [earliest - Child.now, 0].max if earliest&.finite?
    end

    def note(child, word)
      case word
      when :loaded
        child.reached(:loaded)
        child.channel.say(:go) if @go
      when :ready
        child.reached(:ready)
        @pauses.ready(child.number)
        of(child.number).reject(&:staying?).each { |former| former.retire(@drain_seconds) } if child.staying?
      when :leave
        @turns.add(child)
      end
    end

    def replace_next
      child = @turns.next(@children) and replace(child)
    end

    def replace(child)
      return unless child.staying?

      @pauses.leaves(child.number, child.seconds_ready) if child.reached?(:ready)
      child.replace
      @record.leaves(child)
    end

    def reap
      @children.reject(&:ended?).each(&:check)
      @children.select(&:ended?).each do |child|
        @children.delete(child)
        child.channel.close
        child.reached?(:ready) || child.leaving? ? note_end(child) : note_failure(child)
        @ended.call(child)
      end
    end

    def note_end(child)
      if child.staying?
        @record.ended(child)
        @pauses.ended(child.number, child.seconds_ready)
      elsif child.reached?(:ready) || !@stopping
        @record.left(child)
      end
    end

    def note_failure(child)
      @record.failed(child)
      @pauses.failed(child.number)
    end

    def kill_overdue
      @children.select(&:overdue?).each do |child|
        @record.overdue(child)
        child.kill
      end
    end
  end
end
