# frozen_string_literal: true

require "test_helper"
require "bontebok/status/diagnosis"
require_relative "../support/status_case"

class DiagnosisTest < Minitest::Test
  include StatusCase

  def test_workers_are_in_the_order_of_trouble_longest_request_number
    workers = [worker(4), worker(3), worker(1, threads: [busy(1, 0.5), idle(2)]), worker(5, leaves: true),
               worker(2, threads: [busy(1, 2.0), idle(2)]), worker(6, state: "Z"), worker(7, state: "T")]
    assert_equal([7, 6, 5, 2, 1, 3, 4], diagnosis(workers: workers).workers.map { |look| look[:number] })
  end

  def test_all_causes_are_in_one_order
    found = diagnosis(workers: [worker(1, leaves: true), worker(2, state: "T", leaves: true)],
                      server: server(trouble: ["the master (pid 3) is stopped (SIGSTOP)"])).all
    assert_equal([[:trouble, nil], [:stopped, 2], [:leaves, 2], [:leaves, 1]],
                 found.map { |cause, worker| [cause.kind, worker&.fetch(:number)] })
  end

  def test_each_rule_has_a_rank
    workers = Bontebok::Status::WorkerRules
    kinds = [*Bontebok::Status::ServerRules::RULES, *workers::STATES, *workers::MORE]
    assert_equal kinds.sort, Bontebok::Status::Cause::KINDS.sort
  end

  private

  def diagnosis(**fields) = Bontebok::Status::Diagnosis.new(snapshot(**fields))
end
