# frozen_string_literal: true

Rails.application.routes.draw do
  get "jobs" => "jobs#create"
end
