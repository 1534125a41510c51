# frozen_string_literal: true

require_relative "child"
require_relative "hooks"

module Bontebok
  # The children that a process must have, by number: the supervisor's one master, a master's workers. Keeps one staying
  # child per number alive and replaces those that go. The rules:
  #
  #   - One that was ready and ends is replaced at once. One that ends before it was ready is a failure: its number
  #     pauses, longer with each failure in a row. To end by itself sooner than such a pause after it was ready is a
  #     failure as well, from the second time in a row.
  #   - One that asks to leave goes on serving until its replacement is ready. Then it retires: what it has not accepted
  #     is for the others.
  #   - One that does not end in time after it was told to is killed, and the log says which.
  class Children
    LONGEST_PAUSE = 30

    # name: what the log calls a child. margin: seconds that one may take on top of patience, and of what an end at once
    # may take, if it has children of its own to wait for. ended: is called with each Child that has ended. The block
    # forks the child of a number and returns the Child; it may raise Hooks::Failed.
    def initialize(name, count, pause:, patience:, log:, margin: 0, ended: proc {}, &start)
      @name = name
      @numbers = (1..count).to_a
      @pause = pause
      @drain_seconds = patience + margin
      @quit_seconds = Child::QUIT_SECONDS + margin
      @log = log
      @ended = ended
      @start = start
      @children = []
      @failures = Hash.new(0)
      @brief = {}
      @paused_until = Hash.new(0)
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
      fill unless @stopping
    end

    # Somebody else has waited for a process, which may be one of these.
    def ended(pid, status)
      @children.find { |child| child.pid == pid }&.ended(status)
    end

    # Every number has a child that came so far, or has failed.
    def settled?(step)
      @numbers.all? { |number| @failures[number].positive? || of(number).any? { |child| child.reached?(step) } }
    end

    def any?(step)
      @children.any? { |child| child.reached?(step) }
    end

    # Lets those serve that are loaded, and those that will be.
    def go
      @go = true
      @children.each { |child| child.channel.say(:go) if child.reached?(:loaded) && !child.reached?(:ready) }
    end

    # Each is replaced, as if it had asked to leave.
    def renew
      @children.each { |child| replace(child) }
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
      @numbers.each { |number| start(number) if missing?(number) && @paused_until[number] <= Child.now }
    end

    # When there is no room for one more process or pipe now, there may be later.
    def start(number)
      @children << @start.call(number)
    rescue SystemCallError, Hooks::Failed => e
      @log.error("#{@name} #{number} cannot be started", e)
      pause(number)
    end

    def seconds_to_wait
      times = @children.filter_map(&:deadline)
      times.concat(@numbers.select { |number| missing?(number) }.map(&@paused_until)) unless @stopping
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
        @failures.delete(child.number) unless @brief[child.number]
        of(child.number).reject(&:staying?).each { |former| former.retire(@drain_seconds) }
      when :leave
        replace(child)
      end
    end

    def replace(child)
      return unless child.staying?

      @brief.delete(child.number) if child.reached?(:ready) && child.seconds_ready >= @pause
      child.replace
      @log.info("#{describe(child)} leaves when its replacement is ready")
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
        @log.warn("#{describe(child)} ended: #{child.ending}")
        note_life(child)
      elsif !@stopping
        @log.info("#{describe(child)} has left: #{child.ending}")
      end
    end

    def note_life(child)
      brief = child.seconds_ready < @pause
      brief && @brief[child.number] ? pause(child.number) : @failures.delete(child.number)
      @brief[child.number] = brief
    end

    def note_failure(child)
      @log.warn("#{describe(child)} ended before it was ready: #{child.ending}")
      pause(child.number)
    end

    def pause(number)
      @paused_until[number] = Child.now + [@pause * (2**@failures[number]), LONGEST_PAUSE].min
      @failures[number] += 1
    end

    def kill_overdue
      @children.select(&:overdue?).each do |child|
        @log.error("#{describe(child)} did not end within #{child.patience} s: killed")
        child.kill
      end
    end

    def describe(child)
      number = " #{child.number}" if @numbers.size > 1
      "#{@name}#{number} (pid #{child.pid})"
    end
  end
end
