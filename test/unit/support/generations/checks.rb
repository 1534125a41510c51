# frozen_string_literal: true

# The rules that hold in a GenerationWorld after each event. Each method raises ModelServer::Fault if one is broken.
class GenerationChecks
  # rules: the Succession.
  def initialize(server, rules)
    @server = server
    @history = server.history
    @generations = server.generations
    @rules = rules
  end

  # after: the event. now: the time. kept: the generation that was kept before the event.
  def after(event, now, kept)
    check_kept(event, now, kept)
    check_places
    check_newest(@rules.newest) if @rules.newest && !@history.stopped
  end

  # The workers that serve are never fewer than before, unless one has ended by itself. With deploy_surge, a deploy that
  # fails takes its workers along.
  def workers
    return if @history.stopped || @history.harmed

    least = @generations.workers - (@history.failures? ? @server.config.surge : 0)
    fault("#{serving} workers serve") if @history.served.any? && serving < least
  end

  # Nothing happens any more.
  def at_rest
    return at_rest_after_stop if @history.stopped

    present, *others = @generations.all
    fault("nobody serves") unless present
    fault("only #{serving} workers serve at the end") if serving < @generations.workers
    fault("generation #{present.setup.number} is #{present.state}") unless present.state == :serving
    fault("generation #{others.first.setup.number} is #{others.first.state}, too") if others.any?
    fault("#{serving} workers serve at the end") if serving > @generations.workers
    check_choice(present.setup.number)
  end

  private

  def fault(text) = @server.fault(text)

  def serving = @server.masters.sum { |master| master.phase == :ready ? master.ready : 0 }

  # The kept generation stays until its time is over, the next one serves, or the server stops.
  def check_kept(event, now, before)
    kept = @generations.kept
    fault("the kept generation ends") if before && kept.nil? && !may_end?(before, event, now)
    @kept_until = now + ModelServer::KEPT_SECONDS if kept && !kept.equal?(before)
    @server.kept_ends = false
  end

  def may_end?(kept, event, now)
    @server.kept_ends || @history.stopped || event == :roll_back || now >= @kept_until || kept.process.ended? ||
      @server.config.surge.positive?
  end

  def check_places
    minded = [*@generations.all, *@generations.kept]
    fault("a generation has two places") unless minded.uniq(&:object_id).size == minded.size
    forgotten = @server.masters.select(&:alive?).find { |master| minded.none? { |one| one.process.equal?(master) } }
    fault("nobody minds master #{forgotten.pid}") if forgotten
  end

  def check_newest(newest)
    fault("a master waits for another generation") if @rules.former.nil? && newest.process.trusts_another?
    endless = @rules.on_trial?(newest) && !newest.reached?(:ready) && !newest.whole_by
    fault("generation #{newest.setup.number} may take for ever") if endless
  end

  def at_rest_after_stop
    left = @server.masters.any?(&:alive?) || !@generations.empty?
    fault("a master is left after the stop") if left
  end

  # The last command that has not failed decides.
  def check_choice(number)
    results = @history.results
    fault("generation #{number} serves, but it has failed") if results[number] == :failed
    return if @history.harmed || @history.back

    later = results.keys.select { |other| other > number && !%i[failed superseded].include?(results[other]) }
    fault("generation #{number} serves, not #{later.join(', ')}") if later.any?
  end
end
