# frozen_string_literal: true

# The pauses of WorkersModel: when a worker of a number may be started.
class WorkersModelPauses
  PAUSE = 1
  LONGEST = 30

  # faults: { number => failures in a row that are the worker's fault }. refused: the last fork was rejected.
  attr_reader :faults, :refused

  def initialize
    clear
  end

  def clear
    @failures = Hash.new(0)
    @faults = Hash.new(0)
    @until = Hash.new(0)
    @brief = {}
    @all_until = 0
    @refused = false
  end

  def forget(number) = [@failures, @faults, @until, @brief].each { |one| one.delete(number) }

  def cut_short = @until.clear

  def over?(number, now) = [@until[number], @all_until].max <= now

  def failing?(number) = @failures[number].positive?

  def started = @refused = false

  def refuse(now)
    @refused = true
    @all_until = now + PAUSE
  end

  def ready(number)
    @faults.delete(number)
    @failures.delete(number) unless @brief[number]
  end

  def leaves(number, life)
    @brief.delete(number) if life >= PAUSE
  end

  # The second brief life in a row is a failure.
  def ended(number, now, life)
    twice = life < PAUSE && @brief[number]
    twice ? failed(number, now) : @failures.delete(number)
    @brief[number] = life < PAUSE
  end

  def failed(number, now, fault: false)
    @faults[number] += 1 if fault
    @until[number] = now + [PAUSE * (2**@failures[number]), LONGEST].min
    @failures[number] += 1
  end
end
