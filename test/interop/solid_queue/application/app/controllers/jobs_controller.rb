# frozen_string_literal: true

# Enqueues jobs with these numbers.
class JobsController < ApplicationController
  def create
    first = Integer(params[:first])
    ActiveJob.perform_all_later(Array.new(Integer(params[:count])) { |index| NoteJob.new(first + index) })
    render plain: "enqueued"
  end
end
